// The rows with a value a group and database. How a row is rendered is metrics.go,
// the sums over the groups of a database are metrics_database.go; the figures
// themselves come from package estimate.

package collector

import (
	"strconv"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/tally"
)

// groupRow is a row with one value a group and database.
func groupRow(name, help string, read func(*estimate.Group) (float64, bool)) metric {
	return metric{name: name, help: help, kind: gauge, labels: []string{"db", "group"}, read: func(s *Snapshot, put put) {
		for i := range s.Groups {
			g := &s.Groups[i]
			if value, ok := read(g); ok {
				put(value, dbLabel(g.DB), g.Name)
			}
		}
	}}
}

// countRow is a row of a number that every group has.
func countRow(name, help string, read func(*estimate.Group) float64) metric {
	return groupRow(name, help, func(g *estimate.Group) (float64, bool) { return read(g), true })
}

// zombieRow is a row of the groups that expect a TTL.
func zombieRow(name, help string, read func(*estimate.Zombies) float64) metric {
	return groupRow(name, help, func(g *estimate.Group) (float64, bool) {
		if g.Zombies == nil {
			return 0, false
		}
		return read(g.Zombies), true
	})
}

// ratedRow is a row of the groups that expect a TTL and have keys enough for a ratio.
func ratedRow(name, help string, read func(*estimate.Zombies) float64) metric {
	return groupRow(name, help, func(g *estimate.Group) (float64, bool) {
		if g.Zombies == nil || !g.Zombies.Rated {
			return 0, false
		}
		return read(g.Zombies), true
	})
}

func groupMetrics() []metric {
	return []metric{
		{name: "keyhealth_group_info", help: "1; where the group comes from and what it should look like.", kind: gauge,
			labels: []string{"db", "group", "source", "ttl", "library", "unique_names"}, read: func(s *Snapshot, put put) {
				for _, g := range s.Groups {
					put(1, dbLabel(g.DB), g.Name, g.Source, string(g.TTL), g.Library, strconv.FormatBool(g.UniqueNames))
				}
			}},
		countRow("keyhealth_group_keys", "Keys of the group, as of the last sweep; exact after a walk, else an estimate.",
			func(g *estimate.Group) float64 { return g.Keys }),
		countRow("keyhealth_group_keys_examined", "Keys of the group behind the figures of the last sweep, never scaled.",
			func(g *estimate.Group) float64 { return float64(g.Examined) }),
		groupRow("keyhealth_group_oldest_sweep_timestamp_seconds", "Unix time at which the oldest of the sweeps behind the group's figures ended: a group with few sampled keys takes several samples together.",
			func(g *estimate.Group) (float64, bool) {
				return float64(g.Oldest.UnixMilli()) / 1e3, !g.Oldest.IsZero()
			}),
		countRow("keyhealth_group_keys_without_ttl", "Keys of the group without TTL, as of the last sweep; exact after a walk, else an estimate.",
			func(g *estimate.Group) float64 { return g.WithoutTTL }),
		zombieRow("keyhealth_group_zombie_keys", "Keys of the group seen without TTL at least twice, as of the last sweep; scaled where not every key was looked at.",
			func(z *estimate.Zombies) float64 { return z.Keys }),
		zombieRow("keyhealth_group_zombie_keys_seen", "Confirmed zombies behind the figures of the last sweep, never scaled.",
			func(z *estimate.Zombies) float64 { return float64(z.Seen) }),
		ratedRow("keyhealth_group_zombie_ratio", "Zombies as a share of the group's keys, as of the last sweep.",
			func(z *estimate.Zombies) float64 { return z.Ratio }),
		ratedRow("keyhealth_group_zombie_ratio_lower_bound", "Lower bound of the 95 % interval of the zombie ratio, as of the last sweep.",
			func(z *estimate.Zombies) float64 { return z.Interval.Lower }),
		ratedRow("keyhealth_group_zombie_ratio_upper_bound", "Upper bound of the 95 % interval of the zombie ratio, as of the last sweep.",
			func(z *estimate.Zombies) float64 { return z.Interval.Upper }),
		{name: "keyhealth_group_leaked_keys", help: "Zombies whose name holds a unix time or the number of a window older than the group's max TTL (24 h where none is stated), as of the last sweep.",
			kind: gauge, labels: []string{"db", "group"}, read: func(s *Snapshot, put put) {
				for _, g := range s.Groups {
					if s.Leaks && g.Zombies != nil {
						put(g.Zombies.Leaked, dbLabel(g.DB), g.Name)
					}
				}
			}},
		zombieRow("keyhealth_group_lockout_risk_keys", "Zombies with a fixed name in a group where a zombie locks its caller out, as of the last sweep.",
			func(z *estimate.Zombies) float64 { return z.LockoutRisk }),
		groupRow("keyhealth_group_locked_out_keys", "Zombies whose state is at or above the limit (at or below 0 where it counts down), as of the last sweep; only in groups with a limit.",
			func(g *estimate.Group) (float64, bool) {
				if g.Zombies == nil || !g.Limited || !g.Zombies.StatesKnown {
					return 0, false
				}
				return g.Zombies.LockedOut, true
			}),
		groupRow("keyhealth_group_excessive_ttl_keys", "Keys with a TTL above the group's max TTL (366 days where none is stated), as of the last sweep.",
			func(g *estimate.Group) (float64, bool) { return g.Excessive, g.TTL != classify.Persistent }),
		{name: "keyhealth_group_keys_by_ttl", help: "Keys of the group by TTL, as of the last sweep; each band reaches up to and including its bound, and they add up to the keys.",
			kind: gauge, labels: []string{"db", "group", "band"}, read: func(s *Snapshot, put put) {
				for _, g := range s.Groups {
					for band, keys := range g.ByTTL {
						put(keys, dbLabel(g.DB), g.Name, tally.BandNames[band])
					}
				}
			}},
		{name: "keyhealth_group_unique_name_keys", help: "Keys of the group whose name looks as if it was made for one request, by the kind of id in it, as of the last sweep.",
			kind: gauge, labels: []string{"db", "group", "kind"}, read: func(s *Snapshot, put put) {
				for _, g := range s.Groups {
					for kind, keys := range g.UniqueNameKeys {
						put(keys, dbLabel(g.DB), g.Name, classify.KindNames[kind])
					}
				}
			}},
		groupRow("keyhealth_group_big_keys", "Big keys of the group that are known: a lower bound, never scaled. They are looked at again each sweep.",
			func(g *estimate.Group) (float64, bool) {
				return bigKeysOf(g, func(b *tally.BigKeys) int64 { return b.Keys })
			}),
		groupRow("keyhealth_group_largest_key_bytes", "Memory of the group's largest big key that is known; absent where none is.",
			func(g *estimate.Group) (float64, bool) {
				value, ok := bigKeysOf(g, func(b *tally.BigKeys) int64 { return b.LargestBytes })
				return value, ok && value > 0
			}),
		groupRow("keyhealth_group_memory_bytes", "Memory of the group's keys, as of the last sweep; always an estimate.",
			func(g *estimate.Group) (float64, bool) {
				return memory(g, func(m *estimate.Memory) float64 { return m.Keys })
			}),
		groupRow("keyhealth_group_zombie_memory_bytes", "Memory of the group's zombies, as of the last sweep; always an estimate.",
			func(g *estimate.Group) (float64, bool) {
				value, ok := memory(g, func(m *estimate.Memory) float64 { return m.Zombies })
				return value, ok && g.Zombies != nil
			}),
	}
}

func bigKeysOf(g *estimate.Group, read func(*tally.BigKeys) int64) (float64, bool) {
	if g.Big == nil {
		return 0, false
	}
	return float64(read(g.Big)), true
}

func memory(g *estimate.Group, read func(*estimate.Memory) float64) (float64, bool) {
	if g.Memory == nil {
		return 0, false
	}
	return read(g.Memory), true
}

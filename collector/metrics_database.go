// The rows with a value a database of the target, over all of its nodes. Those of a
// database of one node are metrics_node.go.

package collector

import "keyhealth/collector/estimate"

// databaseRow is a row with one value a database.
func databaseRow(name, help string, read func(estimate.Database) (float64, bool)) metric {
	return metric{name: name, help: help, kind: gauge, labels: []string{"db"}, read: func(s *Snapshot, put put) {
		for _, d := range s.Databases {
			if value, ok := read(d); ok {
				put(value, dbLabel(d.DB))
			}
		}
	}}
}

func databaseMetrics() []metric {
	ratio := func(pick func(*estimate.Zombies) float64) func(estimate.Database) (float64, bool) {
		return func(d estimate.Database) (float64, bool) {
			if z := d.Expected.Zombies; z != nil && z.Rated {
				return pick(z), true
			}
			return 0, false
		}
	}
	return []metric{
		databaseRow("keyhealth_keys", "Keys in the database, by INFO at the last sweep; expired ones that are not reclaimed yet count.",
			func(d estimate.Database) (float64, bool) { return float64(d.Keys), d.Sized }),
		databaseRow("keyhealth_keys_without_ttl", "Keys without TTL in the database, by INFO at the last sweep.",
			func(d estimate.Database) (float64, bool) { return float64(d.WithoutTTL), d.Sized }),
		databaseRow("keyhealth_zombie_keys", "Zombies of all groups that expect a TTL, as of the last sweep.",
			func(d estimate.Database) (float64, bool) {
				if d.Expected.Zombies == nil {
					return 0, false
				}
				return d.Expected.Zombies.Keys, true
			}),
		databaseRow("keyhealth_zombie_ratio", "Zombies as a share of the keys of all groups that expect a TTL, as of the last sweep.",
			ratio(func(z *estimate.Zombies) float64 { return z.Ratio })),
		databaseRow("keyhealth_zombie_ratio_lower_bound", "Lower bound of the 95 % interval of the zombie ratio, as of the last sweep.",
			ratio(func(z *estimate.Zombies) float64 { return z.Interval.Lower })),
		databaseRow("keyhealth_zombie_ratio_upper_bound", "Upper bound of the 95 % interval of the zombie ratio, as of the last sweep.",
			ratio(func(z *estimate.Zombies) float64 { return z.Interval.Upper })),
	}
}

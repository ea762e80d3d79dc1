// The rows of a node: what INFO says, and the expired keys that a sweep has found.
// Whether the node was reached and swept is metrics_health.go, how INFO is read
// package source.

package collector

import (
	"slices"
	"strings"

	"keyhealth/collector/source"
)

// fieldRow is a row that is a field of INFO; absent where the server tells none.
func fieldRow(name, help, field string) metric {
	return infoRow(name, help, func(i source.Info) (float64, bool) { return i.Number(field) })
}

func infoRow(name, help string, read func(source.Info) (float64, bool)) metric {
	kind := gauge
	if strings.HasSuffix(name, "_total") {
		kind = counter
	}
	return metric{name: name, help: help, kind: kind, labels: []string{"node"}, read: func(s *Snapshot, put put) {
		for _, n := range s.answered() {
			if value, ok := read(*n.Info); ok {
				put(value, n.Name)
			}
		}
	}}
}

// eachRow is a row of the values that INFO has for something a node has
// several of.
func eachRow(name, help, label string, read func(source.Info, put)) metric {
	row := infoRow(name, help, nil)
	row.labels = []string{"node", label}
	row.read = func(s *Snapshot, put put) {
		for _, n := range s.answered() {
			read(*n.Info, func(value float64, labels ...string) { put(value, append([]string{n.Name}, labels...)...) })
		}
	}
	return row
}

func nodeMetrics() []metric {
	return []metric{
		{name: "keyhealth_redis_info", help: "1; what the server says it is.", kind: gauge,
			labels: []string{"node", "role", "version", "mode", "flavor"}, read: func(s *Snapshot, put put) {
				for _, n := range s.answered() {
					put(1, n.Name, n.Info.Role(), n.Info.Version(), n.Info.Mode(), n.Info.Flavor())
				}
			}},
		eachRow("keyhealth_db_keys", "Keys in the node's database, by INFO; expired ones that are not reclaimed yet count.", "db",
			keyspace(func(d source.DBSize) int64 { return d.Keys })),
		eachRow("keyhealth_db_keys_without_ttl", "Keys without TTL in the node's database, by INFO.", "db",
			keyspace(source.DBSize.WithoutTTL)),
		{name: "keyhealth_db_expired_unreclaimed_ratio", help: "Share of the database's keys that have expired and are not reclaimed yet, estimated at the last sweep.",
			kind: gauge, labels: []string{"node", "db"}, read: func(s *Snapshot, put put) {
				for _, n := range s.Nodes {
					for db, share := range n.Unreclaimed {
						put(share, n.Name, dbLabel(db))
					}
				}
			}},
		fieldRow("keyhealth_memory_used_bytes", "Memory that Redis has allocated.", "used_memory"),
		fieldRow("keyhealth_memory_max_bytes", "Configured maxmemory; 0: no limit.", "maxmemory"),
		fieldRow("keyhealth_memory_system_bytes", "Memory of the node's machine.", "total_system_memory"),
		fieldRow("keyhealth_memory_rss_bytes", "Memory that the operating system has given to Redis.", "used_memory_rss"),
		fieldRow("keyhealth_memory_dataset_bytes", "Memory of the keys and values.", "used_memory_dataset"),
		fieldRow("keyhealth_memory_overhead_bytes", "Memory of buffers and bookkeeping.", "used_memory_overhead"),
		fieldRow("keyhealth_memory_fragmentation_ratio", "RSS as a multiple of the memory used; says nothing on a small or just emptied server.", "mem_fragmentation_ratio"),
		eachRow("keyhealth_eviction_policy_info", "1; the configured maxmemory-policy.", "policy", func(i source.Info, put put) {
			if policy := i.Text("maxmemory_policy"); policy != "" {
				put(1, policy)
			}
		}),
		infoRow("keyhealth_evictable_keys_ratio", "Share of the keys that eviction may take: all under allkeys-*, those with a TTL under volatile-*, none under noeviction.", evictable),
		fieldRow("keyhealth_evicted_keys_total", "Keys evicted since the server's start.", "evicted_keys"),
		fieldRow("keyhealth_expired_keys_total", "Keys expired since the server's start.", "expired_keys"),
		infoRow("keyhealth_expired_stale_ratio", "The server's own estimate of expired keys among those with a TTL; 0.25 to 0.3 is normal where TTLs are short.",
			func(i source.Info) (float64, bool) {
				percent, ok := i.Number("expired_stale_perc")
				return percent / 100, ok
			}),
		fieldRow("keyhealth_expire_time_cap_reached_total", "Times that active expiry stopped at its time limit.", "expired_time_cap_reached_count"),
		eachRow("keyhealth_error_replies_total", "Error replies since the server's start, to all clients, by kind.", "error", func(i source.Info, put put) {
			if i.Has("errorstats") {
				for _, kind := range source.ErrorKinds {
					put(i.ErrorReplies(kind), kind)
				}
			}
		}),
		{name: "keyhealth_script_duration_seconds", help: "Time of script calls since the server's start, to all clients.",
			labels: []string{"node", "command"}, scripts: func(s *Snapshot, put putSummary) {
				for _, n := range s.answered() {
					for _, script := range n.Info.Scripts() {
						put(script, n.Name, script.Command)
					}
				}
			}},
		eachRow("keyhealth_script_failed_calls_total", "Script calls that ended in an error since the server's start.", "command", func(i source.Info, put put) {
			for _, script := range i.Scripts() {
				put(script.Failed, script.Command)
			}
		}),
	}
}

// answered are the nodes whose INFO is known.
func (s *Snapshot) answered() []Node {
	return slices.DeleteFunc(slices.Clone(s.Nodes), func(n Node) bool { return n.Info == nil })
}

func keyspace(of func(source.DBSize) int64) func(source.Info, put) {
	return func(i source.Info, put put) {
		sizes, sized := i.Keyspace()
		if !sized {
			return
		}
		if _, ok := sizes[0]; !ok {
			put(0, dbLabel(0))
		}
		for db, size := range sizes {
			put(float64(of(size)), dbLabel(db))
		}
	}
}

func evictable(i source.Info) (float64, bool) {
	sizes, _ := i.Keyspace()
	var keys, expires int64
	for _, size := range sizes {
		keys += size.Keys
		expires += size.Expires
	}
	policy := i.Text("maxmemory_policy")
	switch {
	case keys == 0:
		return 0, false
	case strings.HasPrefix(policy, "allkeys-"):
		return 1, true
	case strings.HasPrefix(policy, "volatile-"):
		return float64(expires) / float64(keys), true
	case policy == "noeviction":
		return 0, true
	}
	return 0, false
}

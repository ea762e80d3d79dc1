// The rows that say how keyhealth itself fares with a target: nodes reached, sweeps
// and their failures, commands, capabilities. Most stay when the
// data are stale. What Redis says of itself is metrics_node.go.

package collector

import (
	"maps"
	"slices"
	"strconv"
)

// healthRow is a row without labels of its own that has a value from the first
// scrape on.
func healthRow(name, help string, value func(Health) float64) metric {
	return metric{name: name, help: help, kind: gauge, read: func(s *Snapshot, put put) { put(value(s.Health)) }}
}

// successRow is a row that has a value once a sweep has succeeded.
func successRow(name, help string, value func(Health) float64) metric {
	return metric{name: name, help: help, kind: gauge, read: func(s *Snapshot, put put) {
		if !s.Health.LastSuccess.IsZero() {
			put(value(s.Health))
		}
	}}
}

func healthMetrics() []metric {
	return []metric{
		healthRow("keyhealth_up", "1 if at least one node answered INFO at the last attempt, else 0.",
			func(h Health) float64 { return number01(h.Up) }),
		{name: "keyhealth_node_up", help: "1 if the node answered INFO at the last attempt, else 0.", kind: gauge,
			labels: []string{"node"}, read: func(s *Snapshot, put put) {
				for _, n := range s.Nodes {
					put(number01(n.Up), n.Name)
				}
			}},
		{name: "keyhealth_node_swept", help: "1 if the last sweep of the node succeeded, else 0.", kind: gauge,
			labels: []string{"node"}, read: func(s *Snapshot, put put) {
				for _, n := range s.Nodes {
					if n.Sweep != nil {
						put(number01(*n.Sweep), n.Name)
					}
				}
			}},
		{name: "keyhealth_node_ping_seconds", help: "Smallest round trip of a PING at the start of the last sweep.", kind: gauge,
			labels: []string{"node"}, read: func(s *Snapshot, put put) {
				for _, n := range s.Nodes {
					if n.Ping > 0 {
						put(n.Ping.Seconds(), n.Name)
					}
				}
			}},
		healthRow("keyhealth_sweep_success", "1 if the last sweep succeeded, 0 if it or a node of it failed, or none has ended.",
			func(h Health) float64 { return number01(h.Swept) }),
		healthRow("keyhealth_sweep_last_success_timestamp_seconds", "Unix time at which the last successful sweep ended; 0: never.",
			func(h Health) float64 {
				if h.LastSuccess.IsZero() {
					return 0
				}
				return float64(h.LastSuccess.UnixMilli()) / 1e3
			}),
		{name: "keyhealth_sweep_duration_seconds", help: "How long the last sweep took, failed or not.", kind: gauge,
			read: func(s *Snapshot, put put) {
				if s.Health.Sweeps > 0 {
					put(s.Health.Duration.Seconds())
				}
			}},
		healthRow("keyhealth_sweep_interval_seconds", "Configured time from the start of a sweep to the start of the next.",
			func(h Health) float64 { return h.Interval.Seconds() }),
		healthRow("keyhealth_stale_after_seconds", "Age at which the data of a sweep are dropped.",
			func(h Health) float64 { return h.StaleAfter.Seconds() }),
		{name: "keyhealth_sweep_last_full_walk_timestamp_seconds", help: "Unix time at which the last full walk of what is sampled ended (KEYHEALTH_SWEEP_FULL_EVERY); absent: none yet.", kind: gauge,
			read: func(s *Snapshot, put put) {
				if at := s.Health.LastFullWalk; !at.IsZero() {
					put(float64(at.UnixMilli()) / 1e3)
				}
			}},
		successRow("keyhealth_sweep_keys_examined", "Keys whose TTL the last successful sweep read.",
			func(h Health) float64 { return float64(h.Examined) }),
		{name: "keyhealth_sweep_coverage_ratio", help: "Share of SCAN's order that the last sweep covered; 1 after a walk, below 1 where a shard failed, and that of the figures shown where all failed.", kind: gauge,
			read: func(s *Snapshot, put put) {
				if s.Health.Covered {
					put(s.Health.Coverage)
				}
			}},
		{name: "keyhealth_sweeps_total", help: "Finished sweeps, failed ones too.", kind: counter,
			read: func(s *Snapshot, put put) { put(float64(s.Health.Sweeps)) }},
		{name: "keyhealth_sweep_slow_batches_total", help: "Batches of successful sweeps that took more than 5 times as long as the median of the last 51 and more than 1 ms: the server has other things to do, and rests become up to 8 times as long.", kind: counter,
			read: func(s *Snapshot, put put) { put(float64(s.Health.SlowBatches)) }},
		{name: "keyhealth_sweep_failures_total", help: "Failed sweeps by reason.", kind: counter,
			labels: []string{"reason"}, read: func(s *Snapshot, put put) { putCounts(s.Health.Failures, put) }},
		{name: "keyhealth_redis_commands_total", help: "Commands sent to Redis by this exporter.", kind: counter,
			labels: []string{"command"}, read: func(s *Snapshot, put put) { putCounts(s.Health.Commands, put) }},
		{name: "keyhealth_capability", help: "1 if Redis permits what a feature needs, 0 if it refuses; absent: not known yet. required: the feature is switched on.",
			kind: gauge, labels: []string{"capability", "required"}, read: func(s *Snapshot, put put) {
				for _, c := range s.Health.Capabilities {
					put(number01(c.Permitted), c.Name, strconv.FormatBool(c.Required))
				}
			}},
		{name: "keyhealth_groups", help: "Pairs of a database and a group with figures, as of the last sweep.", kind: gauge,
			read: func(s *Snapshot, put put) {
				if s.Databases != nil {
					put(float64(len(s.Groups)))
				}
			}},
		{name: "keyhealth_groups_folded", help: "Discovered groups that were folded into (other) because they were too many, as of the last sweep.", kind: gauge,
			read: func(s *Snapshot, put put) {
				if s.Databases != nil {
					put(float64(s.Folded))
				}
			}},
	}
}

func putCounts(counts map[string]uint64, put put) {
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		put(float64(counts[label]), label)
	}
}

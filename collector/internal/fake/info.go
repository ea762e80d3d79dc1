package fake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// someInfo is a server with some history.
func someInfo() []Section {
	return []Section{
		{"Server", []string{"redis_version:7.0.15", "redis_mode:standalone"}},
		{"Memory", []string{
			"used_memory:1048576", "used_memory_rss:2097152", "used_memory_overhead:262144", "used_memory_dataset:786432",
			"total_system_memory:8589934592", "maxmemory:67108864", "maxmemory_policy:volatile-lru", "mem_fragmentation_ratio:2.00",
		}},
		{"Stats", []string{
			"expired_keys:5000", "expired_stale_perc:12.50", "expired_time_cap_reached_count:2", "evicted_keys:7",
		}},
		{"Replication", []string{"role:master"}},
		{"Commandstats", []string{
			"cmdstat_get:calls=9,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
			"cmdstat_evalsha:calls=1200,usec=240000,usec_per_call=200.00,rejected_calls=1,failed_calls=3",
		}},
		{"Errorstats", []string{"errorstat_NOSCRIPT:count=3", "errorstat_ERR:count=12"}},
		{"Latencystats", []string{"latency_percentiles_usec_evalsha:p50=180.223,p99=401.407,p99.9=1003.519"}},
	}
}

// infoText is what INFO answers.
func (n *Node) infoText() string {
	var b strings.Builder
	for _, section := range n.Sections {
		fmt.Fprintf(&b, "# %s\r\n%s\r\n\r\n", section.Name, strings.Join(section.Fields, "\r\n"))
	}
	if n.NoKeyspace {
		return b.String()
	}
	b.WriteString("# Keyspace\r\n")
	for _, db := range slices.Sorted(maps.Keys(n.tables)) {
		if size := n.tables[db].size(); size.Keys > 0 {
			fmt.Fprintf(&b, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", db, size.Keys, size.Expires)
		}
	}
	return b.String()
}

// Say changes a field of INFO.
func (n *Node) Say(field, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, section := range n.Sections {
		for i, line := range section.Fields {
			if strings.HasPrefix(line, field+":") {
				section.Fields[i] = field + ":" + value
				return
			}
		}
	}
	panic("fakeInfo has no field " + field)
}

// SayToo adds lines to a section of INFO.
func (n *Node) SayToo(section string, lines ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.Sections {
		if n.Sections[i].Name == section {
			n.Sections[i].Fields = append(n.Sections[i].Fields, lines...)
		}
	}
}

// Withhold leaves a section out of INFO.
func (n *Node) Withhold(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Sections = slices.DeleteFunc(n.Sections, func(s Section) bool { return s.Name == name })
}

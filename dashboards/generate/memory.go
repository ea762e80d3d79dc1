package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// noInfo is said where no node answers INFO.
const noInfo = "No node answers INFO"

// memoryRow shows what zombies do to a Redis with a limit.
func memoryRow() row {
	return row{"Memory and eviction", []placed{
		{memory(), 8, 8},
		{evictable(), 8, 8},
		{evictions(), 8, 8},
		{nodes(), 16, 7},
		{errorReplies(), 8, 7},
	}}
}

func memory() cog.Builder[dashboard.Panel] {
	zombies := "sum by (target) (" + most("target, db, group", "keyhealth_group_zombie_memory_bytes", inTarget) + ")"
	return lines("Memory against maxmemory", "Memory in use by node, its maxmemory (no line where there is no limit), and the estimated memory of all zombies of the target, which volatile-* and noeviction never evict. At the limit healthy keys go first, then writes are refused.", noInfo).
		Unit(units.BytesIEC).
		WithTarget(graph("A", ofNode, byNode("keyhealth_memory_used_bytes"))).
		WithTarget(graph("B", ofNode+" maxmemory", byNode("keyhealth_memory_max_bytes")+" > 0")).
		WithTarget(graph("C", ofTarget+" zombies", zombies)).
		OverrideByQuery("B", limit(boundary)).
		OverrideByQuery("C", properties{colored(bad), property("custom.fillOpacity", 25)})
}

func evictable() cog.Builder[dashboard.Panel] {
	return lines("Evictable keys", "Share of the keys that eviction may take: all under allkeys-*, those with a TTL under volatile-*, none under noeviction. Below 10 % under volatile-*, with memory above 80 %, an alert fires: soon writes are refused.", "No node with keys answers INFO").
		Unit(units.PercentUnit).
		Max(1).
		Thresholds(thresholds(steps(bad, from{0.1, "transparent"}))).
		ThresholdsStyle(line()).
		WithTarget(graph("A", ofNode, byNode("keyhealth_evictable_keys_ratio")))
}

func evictions() cog.Builder[dashboard.Panel] {
	return lines("Evicted and expired keys a second", "Keys that Redis removed. Evictions reset limits silently when healthy limiter keys are taken: make room by removing zombies, or raise maxmemory.", noInfo).
		ColorScheme(fixed(good)).
		Unit(units.Short).
		WithTarget(speed("A", ofNode+" expired", rate("target, node", "keyhealth_expired_keys_total", inTarget))).
		WithTarget(speed("B", ofNode+" evicted", rate("target, node", "keyhealth_evicted_keys_total", inTarget))).
		OverrideByQuery("B", properties{colored(unsure)})
}

func nodes() cog.Builder[dashboard.Panel] {
	up := byNode("keyhealth_node_up")
	used, limit := byNode("keyhealth_memory_used_bytes"), byNode("keyhealth_memory_max_bytes")
	carry := []string{
		most("target, node, role, version", "keyhealth_redis_info", inTarget),
		most("target, node, policy", "keyhealth_eviction_policy_info", inTarget),
	}
	noLimit := texts(map[float64]dashboard.ValueMappingResult{0: word("no limit", unsure)})
	table := grid("Nodes", "The servers of the targets, as they are now. Up: answered INFO at the last attempt; swept: its last sweep succeeded. Used is the share of maxmemory.", "No exporter is scraped").
		SortBy([]cog.Builder[sortState]{sortedBy("Node", false)})
	return withColumns(table, carry, []column{
		{title: "Target", field: "target", width: 90},
		{title: "Node", field: "node"},
		{title: "Role", field: "role", width: 70},
		{title: "Version", field: "version", width: 75},
		{title: "Up", expr: up, width: 50, look: mapped(yesNo())},
		{title: "Swept", expr: byNode("keyhealth_node_swept"), width: 65, look: mapped(yesNo())},
		{title: "Policy", field: "policy", width: 120},
		{title: "Memory", expr: used, width: 90, unit: units.BytesIEC},
		{title: "Maxmemory", expr: limit, width: 100, unit: units.BytesIEC, look: mapped(noLimit)},
		{title: "Used", expr: used + "\n/ (" + limit + " > 0)", width: 75, unit: units.PercentUnit,
			look: append(judged(steps(good, from{0.8, unsure}, from{0.9, bad})), decimals(1))},
		{title: "Evictable", expr: byNode("keyhealth_evictable_keys_ratio"), width: 85, unit: units.PercentUnit, look: properties{decimals(1)}},
	})
}

func errorReplies() cog.Builder[dashboard.Panel] {
	return lines("Error replies a second", "Errors that Redis gave to all of its clients, by kind. OOM: writes are refused for want of memory. NOPERM may be keyhealth's own: see the capabilities.", "None in the time shown").
		Unit(units.Short).
		WithTarget(speed("A", ofNode+" {{error}}", rate("target, node, error", "keyhealth_error_replies_total", inTarget)+" > 0"))
}

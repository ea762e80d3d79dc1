package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// noRule is said where no group expects a TTL.
const noRule = "No group expects a TTL: describe them in KEYHEALTH_GROUPS or the CONFIG_FILE"

// zombiesRow shows who is concerned, how much, and how sure that is.
func zombiesRow() row {
	return row{"Zombies by group", []placed{
		{zombieShare(), 14, 9},
		{worstInterval(), 10, 9},
		{zombieKeys(), 8, 8},
		{lockoutRisk(), 8, 8},
		{leaks(), 8, 8},
		{groups(), 24, 9},
	}}
}

// worst is the group with the highest lower bound. modifier is "@ end()" where
// one group is wanted for the whole time shown.
func worst(modifier string) string {
	return fmt.Sprintf("topk(1, max by (target, db, group) (keyhealth_group_zombie_ratio_lower_bound{%s}%s))", inGroup, modifier)
}

func zombieShare() cog.Builder[dashboard.Panel] {
	bound := properties{
		colored("#8e8e8e"), unnamed(), property("custom.lineWidth", 1),
		property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{3, 5}}),
	}
	return lines("Zombie share by group", "Zombies as a share of a group's keys, with its 95 % interval as dotted lines; no interval shows where a sweep looked at every key. A line has the colour of its worst value shown: orange above 0, red from 5 % on. An alert fires when the lower bound is above 5 % for 10 minutes and 20 zombies were seen.", noRule).
		ColorScheme(worstShown()).
		Thresholds(thresholds(share())).
		Unit(units.PercentUnit).
		AxisSoftMax(0.06).
		FillOpacity(0).
		Legend(latest()).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_zombie_ratio"))).
		WithTarget(graph("B", ofGroup+" at most", byGroup("keyhealth_group_zombie_ratio_upper_bound"))).
		WithTarget(graph("C", ofGroup+" at least", byGroup("keyhealth_group_zombie_ratio_lower_bound"))).
		WithTarget(alarmLine("D", byGroup("keyhealth_group_zombie_ratio"))).
		OverrideByQuery("B", bound).
		OverrideByQuery("C", bound).
		OverrideByQuery("D", limit(bad))
}

func worstInterval() cog.Builder[dashboard.Panel] {
	of := func(metric string) string {
		return byGroup(metric) + "\nand on (target, db, group)\n" + worst(" @ end()")
	}
	edge := properties{property("custom.lineWidth", 0), colored(bad)}
	return lines("Worst group and how sure it is", "The group with the highest lower bound now, or the one picked: its zombie share within the 95 % interval. A wide band means few keys were examined: raise KEYHEALTH_SWEEP_MAX_KEYS.", noRule).
		ColorScheme(fixed(bad)).
		Unit(units.PercentUnit).
		AxisSoftMax(0.06).
		FillOpacity(0).
		WithTarget(graph("A", "at most", of("keyhealth_group_zombie_ratio_upper_bound"))).
		WithTarget(graph("B", "at least", of("keyhealth_group_zombie_ratio_lower_bound"))).
		WithTarget(graph("C", ofGroup, of("keyhealth_group_zombie_ratio"))).
		WithTarget(alarmLine("D", of("keyhealth_group_zombie_ratio"))).
		OverrideByQuery("A", append(edge, property("custom.fillBelowTo", "at least"), property("custom.fillOpacity", 25))).
		OverrideByQuery("B", edge).
		OverrideByQuery("C", properties{colored(bad)}).
		OverrideByQuery("D", limit(bad))
}

func zombieKeys() cog.Builder[dashboard.Panel] {
	return lines("Zombie keys", "Keys that should expire and never will. A line that rises has a writer that still makes them; one that stays flat is left from the past. A line has the colour of its worst value shown: yellow from 1 on, orange from 20, red from 200, dark red from 2000.", noRule).
		ColorScheme(worstShown()).
		Thresholds(thresholds(many())).
		Unit(units.Short).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_zombie_keys")))
}

func lockoutRisk() cog.Builder[dashboard.Panel] {
	return lines("Lock-out risk and locked out", "Zombies with a fixed name in groups where a zombie locks its caller out. Locked out, the thick line: those whose state is at the group's limit already, so that their caller is refused for ever; known only where the rule gives a limit.", noRule).
		ColorScheme(worstShown()).
		Thresholds(thresholds(many())).
		Unit(units.Short).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_lockout_risk_keys"))).
		WithTarget(graph("B", ofGroup+" locked out", byGroup("keyhealth_group_locked_out_keys"))).
		OverrideByQuery("B", properties{property("custom.lineWidth", 3)})
}

func leaks() cog.Builder[dashboard.Panel] {
	return lines("Leaks", "Zombies whose name holds a time long past: nothing ever touches them again. They lock nobody out, but take memory for ever. They can be removed (UNLINK).", "No group expects a TTL, or Redis does not tell its time").
		ColorScheme(worstShown()).
		Thresholds(thresholds(many())).
		Unit(units.Short).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_leaked_keys")))
}

func groups() cog.Builder[dashboard.Panel] {
	count := properties{decimals(0)}
	table := grid("Groups", "The present, worst first. TTL is what the group should have: expected, persistent, or unknown where nobody has said. At least and at most are the 95 % interval of the share. Examined: the keys behind the figures. Memory is always an estimate. A dash: not known or not judged.", "No sweep has succeeded yet").
		SortBy([]cog.Builder[sortState]{sortedBy("Zombies", true)})
	info := most("target, db, group, ttl", "keyhealth_group_info", inGroup)
	return withColumns(table, []string{info}, []column{
		{title: "Target", field: "target", width: 110},
		{title: "DB", field: "db", width: 50},
		{title: "Group", field: "group"},
		{title: "TTL", field: "ttl", width: 100},
		{title: "Keys", expr: byGroup("keyhealth_group_keys"), width: 110, unit: units.LocaleFormat, look: count},
		{title: "Without TTL", expr: byGroup("keyhealth_group_keys_without_ttl"), width: 110, unit: units.LocaleFormat, look: count},
		{title: "Zombies", expr: byGroup("keyhealth_group_zombie_keys"), width: 110, unit: units.LocaleFormat, look: append(judged(anyAt(bad)), count...)},
		{title: "Share", expr: byGroup("keyhealth_group_zombie_ratio"), width: 90, unit: units.PercentUnit, look: append(judged(share()), decimals(2))},
		{title: "At least", expr: byGroup("keyhealth_group_zombie_ratio_lower_bound"), width: 90, unit: units.PercentUnit, look: append(judged(share()), decimals(2))},
		{title: "At most", expr: byGroup("keyhealth_group_zombie_ratio_upper_bound"), width: 90, unit: units.PercentUnit, look: properties{decimals(2)}},
		{title: "Examined", expr: byGroup("keyhealth_group_keys_examined"), width: 110, unit: units.LocaleFormat, look: count},
		{title: "Memory", expr: byGroup("keyhealth_group_memory_bytes"), width: 110, unit: units.BytesIEC},
		{title: "Zombie memory", expr: byGroup("keyhealth_group_zombie_memory_bytes"), width: 135, unit: units.BytesIEC},
	})
}

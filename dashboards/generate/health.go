package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// healthRow shows whether the figures above can be trusted, and what they cost.
func healthRow() row {
	return row{"Sweep health", []placed{
		{sweepAge(), 8, 8},
		{sweepDuration(), 8, 8},
		{coverage(), 8, 8},
		{failures(), 8, 8},
		{commands(), 8, 8},
		{capabilities(), 8, 8},
	}}
}

func sweepAge() cog.Builder[dashboard.Panel] {
	return lines("Age of the last successful sweep", "Above the dashed line the data of a sweep are dropped, at twice that an alert fires. No line: no sweep has succeeded. See the failures below.", "No sweep has succeeded yet").
		Unit(units.Seconds).
		WithTarget(graph("A", ofTarget, "time() - ("+byTarget("keyhealth_sweep_last_success_timestamp_seconds")+" > 0)")).
		WithTarget(graph("B", ofTarget+" dropped after", byTarget("keyhealth_stale_after_seconds"))).
		OverrideByQuery("B", limit(boundary))
}

func sweepDuration() cog.Builder[dashboard.Panel] {
	return lines("Duration of a sweep", "How long the last sweep took, failed or not, and the time between the starts of two. A sample may take a third of the interval; a sweep that runs over delays the next: raise KEYHEALTH_SWEEP_DUTY or lower KEYHEALTH_SWEEP_MAX_KEYS.", "No sweep has ended yet").
		Unit(units.Seconds).
		WithTarget(graph("A", ofTarget, byTarget("keyhealth_sweep_duration_seconds"))).
		WithTarget(graph("B", ofTarget+" interval", byTarget("keyhealth_sweep_interval_seconds"))).
		OverrideByQuery("B", limit(boundary))
}

func coverage() cog.Builder[dashboard.Panel] {
	return lines("Coverage", "Share of the keyspace that the last successful sweep looked at. Below 100 % figures are estimates, with an interval, and groups of a few keys may be missed: raise KEYHEALTH_SWEEP_MAX_KEYS.", "No sweep has succeeded yet").
		Unit(units.PercentUnit).
		Max(1).
		WithTarget(graph("A", ofTarget, byTarget("keyhealth_sweep_coverage_ratio")))
}

func failures() cog.Builder[dashboard.Panel] {
	return lines("Failed sweeps", "By reason, of the last minutes. Data stay as they were until they are too old, then they vanish; they never turn into 0. unreachable, timeout, loading: look at Redis; auth, no_permission: at its users; refused: at a proxy in front.", "None in the time shown").
		Unit(units.Short).
		DrawStyle(common.GraphDrawStyleBars).
		FillOpacity(60).
		WithTarget(speed("A", ofTarget+" {{reason}}",
			"max by (target, reason) (increase(keyhealth_sweep_failures_total{"+inTarget+"}[$__rate_interval])) > 0"))
}

func commands() cog.Builder[dashboard.Panel] {
	return lines("Commands sent a second", "What keyhealth costs a Redis, by all of its exporters together. SCAN and PTTL take about 2 microseconds a key. Too many: lower KEYHEALTH_SWEEP_MAX_KEYS or raise KEYHEALTH_SWEEP_INTERVAL.", "No command was sent").
		Unit(units.Short).
		WithTarget(speed("A", ofTarget+" all", sent(inTarget))).
		WithTarget(speed("B", ofTarget+" PTTL", sent(inTarget+`,command="pttl"`)))
}

// sent is a sum, unlike everything else: each exporter costs.
func sent(selector string) string {
	return "sum by (target) (rate(keyhealth_redis_commands_total{" + selector + "}[$__rate_interval]))"
}

func capabilities() cog.Builder[dashboard.Panel] {
	words := texts(map[float64]dashboard.ValueMappingResult{0: word("refused", bad), 1: word("permitted", good)})
	table := grid("Capabilities", "What Redis permits keyhealth to do, by the exporter that may do least. One that is required and refused raises an alert: the exporter's log has the ACL rule that permits it. Not listed: not tried yet.", "Nothing is known yet").
		SortBy([]cog.Builder[sortState]{sortedBy("Redis says", false)})
	return withColumns(table, nil, []column{
		{title: "Target", field: "target", width: 110},
		{title: "Capability", field: "capability"},
		{title: "Required", field: "required", width: 90},
		{title: "Redis says", width: 110, look: mapped(words),
			expr: "min by (target, capability, required) (keyhealth_capability{" + inTarget + "})"},
	})
}

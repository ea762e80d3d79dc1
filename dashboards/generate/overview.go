package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// overviewRow answers at a glance whether anything is wrong.
func overviewRow() row {
	return row{panels: []placed{
		{targetsUp(), 4, 4},
		{zombiesNow(), 4, 4},
		{worstGroup(), 4, 4},
		{callersAtRisk(), 4, 4},
		{withoutTTL(), 4, 4},
		{dataAge(), 4, 4},
	}}
}

func targetsUp() cog.Builder[dashboard.Panel] {
	up := byTarget("keyhealth_up")
	return numbers("Targets", "Redis deployments that answer and that do not. Down: see the reasons under Sweep health and the exporter's log.", "none scraped").
		Unit(units.Short).
		Thresholds(thresholds(steps(good))).
		TextMode(common.BigValueTextModeValueAndName).
		WithTarget(now("A", "up", "sum("+up+")")).
		WithTarget(now("B", "down", fmt.Sprintf("count(%s) - sum(%s)", up, up))).
		OverrideByQuery("B", properties{property("thresholds", anyAt(bad))})
}

func zombiesNow() cog.Builder[dashboard.Panel] {
	return numbers("Zombies", "Keys of the groups that expect a TTL, seen without one twice: they stay for ever. Estimated where a sweep samples. Fix the code that writes a counter and its TTL in two steps, then give the keys it left a TTL or remove them.", "no groups to judge").
		Unit(units.Short).
		Thresholds(thresholds(anyAt(bad))).
		WithTarget(now("A", "zombies", "sum("+byGroup("keyhealth_group_zombie_keys")+")"))
}

func worstGroup() cog.Builder[dashboard.Panel] {
	return numbers("Worst group", "Zombies as a share of the keys of the group that is worst for sure: the one with the highest lower bound. Red from 5 % on, where the alert fires if the lower bound is above it too.", "no groups to judge").
		Unit(units.PercentUnit).
		Decimals(1).
		Thresholds(thresholds(share())).
		TextMode(common.BigValueTextModeValueAndName).
		WithTarget(now("A", ofGroup, byGroup("keyhealth_group_zombie_ratio")+"\nand on (target, db, group)\n"+worst("")))
}

func callersAtRisk() cog.Builder[dashboard.Panel] {
	return numbers("Callers at risk of lock-out", "Zombies with a fixed name in groups where a zombie locks its caller out (a limit, or lockout: true, in the rule). Each may be a user who is refused for ever. A TTL (EXPIRE) or UNLINK lets them in again.", "no groups to judge").
		Unit(units.Short).
		Thresholds(thresholds(anyAt(bad))).
		WithTarget(now("A", "callers", "sum("+byGroup("keyhealth_group_lockout_risk_keys")+")"))
}

func withoutTTL() cog.Builder[dashboard.Panel] {
	keys := "(sum(" + byDB("keyhealth_keys") + ") > 0)"
	return numbers("Keys without TTL", "Share of all keys of the databases picked. Unexplained: less those of groups described as persistent. Red from 5 % on, where the alert fires: describe what is meant to stay with KEYHEALTH_GROUPS=PATTERN@persistent.", "no keys").
		Unit(units.PercentUnit).
		Decimals(1).
		Thresholds(thresholds(steps(plain))).
		TextMode(common.BigValueTextModeValueAndName).
		WithTarget(now("A", "all", "sum("+byDB("keyhealth_keys_without_ttl")+") / "+keys)).
		WithTarget(now("B", "unexplained", "sum("+unexplained()+") / "+keys)).
		OverrideByQuery("B", properties{property("thresholds", share())})
}

// unexplained are the keys without TTL of a database, less those that are meant
// to stay. A database without a persistent group has nothing to subtract.
func unexplained() string {
	all := byDB("keyhealth_keys_without_ttl")
	return fmt.Sprintf(`clamp_min(
  %s
  - (
    sum by (target, db) (
      %s
      and on (target, db, group) %s
    )
    or %s * 0
  ), 0
)`, all, most("target, db, group", "keyhealth_group_keys_without_ttl", inDB),
		most("target, db, group", "keyhealth_group_info", inDB+`,ttl="persistent"`), all)
}

func dataAge() cog.Builder[dashboard.Panel] {
	const never = 1e6 // a time of 0 makes an age of half a century
	at := func(value float64) *float64 { return &value }
	return numbers("Oldest data", "The target whose last successful sweep is longest ago. Fresh: within the time after which its data are dropped; old: up to twice that; stale: longer, an alert fires. See Sweep health.", "none scraped").
		Unit(units.Short).
		TextMode(common.BigValueTextModeValueAndName).
		Thresholds(thresholds(steps(good))).
		Mappings([]dashboard.ValueMapping{
			between(nil, at(1), "fresh", good),
			between(at(1), at(2), "old", unsure),
			between(at(2), at(never), "stale", bad),
			between(at(never), nil, "never swept", bad),
		}).
		WithTarget(now("A", ofTarget, "topk(1,\n  (time() - "+byTarget("keyhealth_sweep_last_success_timestamp_seconds")+")\n  / "+byTarget("keyhealth_stale_after_seconds")+"\n)"))
}

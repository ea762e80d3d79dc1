package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// ttlsRow shows what TTLs the keys have, or none.
func ttlsRow() row {
	return row{"TTLs", []placed{
		{ttlBands(), 12, 9},
		{unexplainedShare(), 6, 9},
		{excessive(), 6, 9},
	}}
}

// band is a slice of the keys by TTL, with its name and colour.
type band struct {
	legend, color, expr string
}

// bands are all slices, from the bottom of the stack up. Keys without TTL are
// told apart by what their group should have.
func bands() []band {
	none := func(ttl string) string {
		return fmt.Sprintf("sum(\n  %s\n  and on (target, db, group) %s\n)",
			most("target, db, group", "keyhealth_group_keys_by_ttl", inGroup+`,band="none"`),
			most("target, db, group", "keyhealth_group_info", inGroup+`,ttl="`+ttl+`"`))
	}
	upTo := func(name string) string {
		return "sum(" + most("target, db, group", "keyhealth_group_keys_by_ttl", inGroup+`,band="`+name+`"`) + ")"
	}
	return []band{
		{"none, expected", bad, none("expected")},
		{"none, unknown", unsure, none("unknown")},
		{"none, persistent", plain, none("persistent")},
		{"up to 1m", "super-light-green", upTo("1m")},
		{"up to 10m", "light-green", upTo("10m")},
		{"up to 1h", "green", upTo("1h")},
		{"up to 1d", "semi-dark-green", upTo("1d")},
		{"up to 7d", "dark-green", upTo("7d")},
		{"up to 30d", "light-yellow", upTo("30d")},
		{"over 30d", slight, upTo("over")},
	}
}

func ttlBands() cog.Builder[dashboard.Panel] {
	panel := lines("Keys by TTL", "All keys of the groups picked, by the time they have left; each band reaches up to its bound. Without TTL: red where the group expects one, orange where nobody has described it, blue where its keys are meant to stay.", "No sweep has succeeded yet").
		Unit(units.Short).
		LineWidth(0).
		FillOpacity(75).
		Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	for i, b := range bands() {
		refID := letter(i)
		panel.WithTarget(graph(refID, b.legend, b.expr)).
			OverrideByQuery(refID, properties{colored(b.color)})
	}
	return panel
}

func unexplainedShare() cog.Builder[dashboard.Panel] {
	return lines("Unexplained keys without TTL", "Keys without TTL that are in no persistent group, as a share of the database's keys. Above 5 % an alert says which groups to describe as persistent, or with their window.", "No keys").
		ColorScheme(worstShown()).
		Unit(units.PercentUnit).
		AxisSoftMax(0.06).
		Thresholds(thresholds(share())).
		WithTarget(graph("A", ofDB, unexplained()+"\n/ ("+byDB("keyhealth_keys")+" > 0)")).
		WithTarget(alarmLine("B", byDB("keyhealth_keys"))).
		OverrideByQuery("B", limit(bad))
}

func excessive() cog.Builder[dashboard.Panel] {
	return lines("Excessive TTLs", "Keys with a TTL above the group's max TTL (366 days where none is stated): they act as if they had none. Look for milliseconds or a unix time where Redis wants seconds.", "No sweep has succeeded yet").
		ColorScheme(worstShown()).
		Thresholds(thresholds(many())).
		Unit(units.Short).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_excessive_ttl_keys")))
}

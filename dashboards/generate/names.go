package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// namesRow shows what makes a keyspace grow: names made fresh, and keys that are
// large by themselves.
func namesRow() row {
	return row{"Names and big keys", []placed{
		{uniqueNames(), 12, 8},
		{bigKeys(), 6, 8},
		{largestKey(), 6, 8},
	}}
}

func uniqueNames() cog.Builder[dashboard.Panel] {
	unique := "sum by (target, db, group) (" + most("target, db, group, kind", "keyhealth_group_unique_name_keys", inGroup) + ")"
	return lines("Unique names", "Share of a group's keys whose name holds a unix time, a UUID, a ULID or a long hex number: made for one request, and never used again. Where such a group is large and grows, keys explode; unique_names: true in its rule says that it is meant.", "No sweep has succeeded yet").
		ColorScheme(worstShown()).
		Thresholds(thresholds(steps(good, from{0.9, slight}))).
		Unit(units.PercentUnit).
		Max(1).
		WithTarget(graph("A", ofGroup, unique+"\n/ ("+byGroup("keyhealth_group_keys")+" > 0)"))
}

// noBigKeys is said where nobody looks for big keys.
const noBigKeys = "Nobody looks for them: KEYHEALTH_BIG_KEY_BUDGET is 0, or TYPE or MEMORY USAGE is refused"

func bigKeys() cog.Builder[dashboard.Panel] {
	return lines("Big keys", "Keys of 1 MiB or 10,000 elements (KEYHEALTH_BIG_KEY_BYTES, _ELEMENTS) that were met: at least so many there are. Deleting or reading one holds up every other client; UNLINK does not.", noBigKeys).
		ColorScheme(worstShown()).
		Thresholds(thresholds(anyAt(slight))).
		Unit(units.Short).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_big_keys")))
}

func largestKey() cog.Builder[dashboard.Panel] {
	return lines("Largest key", "Memory of the largest big key that was met, by group.", "No big key is known").
		ColorScheme(fixed(boundary)).
		Unit(units.BytesIEC).
		WithTarget(graph("A", ofGroup, byGroup("keyhealth_group_largest_key_bytes")))
}

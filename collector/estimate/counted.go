// What a sweep of one node counted, and the readings that this comes to: those of
// rare groups are put together with earlier ones.

package estimate

import (
	"slices"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// Counted is what a sweep of one node counted, and once it is settled what that
// comes to.
type Counted struct {
	Databases []*tally.Database
	Primary   *source.Info // of the primary, where a replica was swept; nil: it did not answer, or was swept itself
	Now       time.Time    // the server's clock; zero: unknown
	Measured  bool         // sizes of keys were asked for, and answered
	Searched  bool         // big keys were looked for
	Room      int          // groups that may be shown

	readings map[*tally.Group]*reading
}

// Settle scales what was counted by a sweep that ended at a time. Groups with few
// sampled keys take their figures from the last samples too.
func (n *Counted) Settle(pools *Pools, counting *tally.Counting, at time.Time) {
	n.readings = map[*tally.Group]*reading{}
	described := counting.Classifier
	for _, d := range n.Databases {
		e := newEstimator(d)
		e.now, e.at = n.Now, at
		if d.Walked {
			pools.forget(d.DB)
		}
		met := func(number int) bool { return number < described.Groups() || d.Presets[number] != nil }
		for _, number := range pools.absent(d.DB, met) {
			counting.Group(d, number)
		}
		shown := map[string]bool{}
		for _, t := range d.Groups {
			latest := e.reading(t)
			shown[t.Name] = true
			if !d.Walked {
				number := -1
				if t.Source != classify.SourceDiscovered {
					number = slices.Index(described.Definitions, t.Definition)
				}
				latest = pools.add(pooled{d.DB, t.Name}, number, latest)
			}
			n.readings[t] = &latest
		}
		pools.drop(d.DB, func(name string) bool { return shown[name] })
	}
}

// Unreclaimed is the share of the node's keys that is expired garbage.
func (n *Counted) Unreclaimed() (share float64, known bool) {
	keys := 0.0
	for _, d := range n.Databases {
		if garbage := Unreclaimed(d); garbage != nil {
			keys += float64(d.After.Keys)
			share += *garbage * float64(d.After.Keys)
		}
	}
	return share / max(1, keys), keys > 0
}

// Garbage is the share of each database's keys that is expired garbage, where
// that is known.
func (n *Counted) Garbage() map[int]float64 {
	shares := map[int]float64{}
	for _, d := range n.Databases {
		if share := Unreclaimed(d); share != nil {
			shares[d.DB] = *share
		}
	}
	return shares
}

// Keys is how many keys the node has, expired ones included.
func (n *Counted) Keys() float64 {
	keys := 0.0
	for _, d := range n.Databases {
		keys += among(d)
	}
	return keys
}

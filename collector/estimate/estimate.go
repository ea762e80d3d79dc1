// From readings to a group's figures, with the interval of the share. The nodes
// that hold keys of a group are strata: what they say is added. No clock, no
// Redis. docs/statistics.md has the formulae in words.

package estimate

import (
	"math"

	"keyhealth/collector/tally"
)

// fewestForRatio is the sample size below which a share says nothing.
const fewestForRatio = 10

// uneven is the square of the coefficient of variation of the keys' chances to
// be met: those depend on the keys before them in SCAN's order, and are the same
// in every sweep. It keeps some of the doubt that seeing a large part of all keys
// would take away. (0.31 squared, measured with pages of ten.)
const uneven = 0.1

// strata are readings of the parts of a group, or of several groups, that are to
// be taken together.
type strata []*reading

// sum adds f over the strata, for each sweep in one.
func (s strata) sum(f func(*reading) float64) float64 {
	total := 0.0
	for _, r := range s {
		total += f(r) / math.Max(1, r.samples)
	}
	return total
}

// group fills in what every group has.
func (s strata) group(g *Group) {
	g.Keys = s.sum(func(r *reading) float64 { return r.keys })
	g.WithoutTTL = s.sum(func(r *reading) float64 { return r.without })
	g.Excessive = s.sum(func(r *reading) float64 { return r.excessive })
	for i := range g.ByTTL {
		g.ByTTL[i] = s.sum(func(r *reading) float64 { return r.bands[i] })
	}
	for i := range g.UniqueNameKeys {
		g.UniqueNameKeys[i] = s.sum(func(r *reading) float64 { return r.kinds[i] })
	}
	for _, r := range s {
		g.Examined += int64(r.examined)
		if g.Oldest.IsZero() || r.at.Before(g.Oldest) {
			g.Oldest = r.at
		}
	}
}

// zombies scales the confirmed keys and bounds their share; nil where nobody
// could look at the suspects.
func (s strata) zombies(keys, without float64) *Zombies {
	z := &Zombies{Rated: keys > 0}
	examined, exact := 0.0, true
	for _, r := range s {
		if r.unknown {
			return nil
		}
		z.Seen += int64(r.confirmed)
		examined += r.examined
		exact = exact && r.exact
	}
	z.Rated = z.Rated && (exact || examined >= fewestForRatio)
	z.Keys = s.confirmed(func(r *reading) float64 { return r.confirmed })
	z.Leaked = s.confirmed(func(r *reading) float64 { return r.leaked })
	z.LockoutRisk = s.confirmed(func(r *reading) float64 { return r.lockout })
	z.LockedOut, z.StatesKnown = s.lockedOut()
	if z.Rated {
		z.Ratio = z.Keys / keys
		z.Interval = s.interval(z.Ratio, keys, without)
	}
	return z
}

// confirmed scales a number of the keys that were looked at again.
func (s strata) confirmed(count func(*reading) float64) float64 {
	return s.sum(func(r *reading) float64 { // multiplied first: whole numbers stay whole
		return r.without * count(r) / math.Max(1, r.looked)
	})
}

// lockedOut scales those of the confirmed keys whose state is at the limit;
// unknown where there are zombies and most of their states cannot be compared
// with it.
func (s strata) lockedOut() (n float64, known bool) {
	for _, r := range s {
		if r.confirmed > 0 && (r.judged == 0 || 2*r.judged < r.tried) {
			return 0, false
		}
	}
	return s.confirmed(func(r *reading) float64 { return r.confirmed * r.lockedOut / math.Max(1, r.tried) }), true
}

// interval bounds the zombie ratio. Where all suspects were looked at, the
// zombies among the keys seen are known; else the bounds of the share without
// TTL and those of the confirmed share are multiplied. Suspects that were gone
// are no zombies, but what came in their place may be: they count for the upper
// bound.
func (s strata) interval(ratio, keys, without float64) Interval {
	all := true
	var weights float64 // sum of (share of the keys without TTL)^2 / looks
	for _, r := range s {
		all = all && r.allLooked
		if share := r.without / math.Max(1, r.samples); r.looked > 0 {
			weights += share * share / r.looked
		}
	}
	most := math.Min(1, ratio+s.confirmed(func(r *reading) float64 { return r.gone })/keys)
	if all {
		return Interval{s.share(ratio, keys).Lower, s.share(most, keys).Upper}
	}
	bounds := s.share(without/keys, keys)
	looked := math.Max(1, math.Round(without*without/weights)) // as many looks as one group would need to be this sure
	confirmed := func(ratio float64) Interval {
		return ClopperPearson(math.Min(looked, math.Round(looked*ratio*keys/without)), looked)
	}
	return Interval{bounds.Lower * confirmed(ratio).Lower, bounds.Upper * confirmed(most).Upper}
}

// share bounds a share of the keys; after a walk there is no doubt. Each stratum
// adds its variance: that of a share seen in n/D of its keys without replacement.
func (s strata) share(ratio, keys float64) Interval {
	var variance, plain, population float64 // both in units of share x (1 - share)
	for _, r := range s {
		population += r.keys / (1 - uneven)
		if r.exact || r.examined == 0 || r.keys == 0 {
			continue
		}
		weight := r.keys / math.Max(1, r.samples) / keys
		unseen := math.Max(2/r.keys, 1-(1-uneven)*r.examined/r.keys) // a sample never knows all
		v := weight * weight * unseen / r.examined
		plain += v
		variance += v * r.effect
	}
	if variance == 0 {
		return Interval{ratio, ratio}
	}
	population /= variance / plain
	sample := population / (1 + variance*population) // whose share without replacement varies as much
	bounds := shareInterval(ratio*sample, sample, population)
	return Interval{math.Min(bounds.Lower, ratio), math.Max(bounds.Upper, ratio)} // but for rounding they are
}

// memory scales the mean sizes of the keys with and without TTL.
func (s strata) memory(expectsTTL bool, zombies *Zombies) *Memory {
	var m Memory
	for _, r := range s {
		without := r.size.Without
		if expectsTTL {
			without = r.size.Zombies
		}
		scale := 1 / math.Max(1, r.samples)
		m.Keys += scale * (without.Of(r.size.With)*r.without + r.size.With.Of(without)*(r.keys-r.without))
		if zombies != nil {
			m.Zombies += scale * r.size.Zombies.Of(tally.Mean{}) * r.without * r.confirmed / math.Max(1, r.looked)
		}
	}
	return &m
}

// From a tally to a group's figures: scaled on the exact sizes that INFO tells,
// with the interval of the share. No clock, no Redis. docs/statistics.md has
// the formulae in words.

package collector

import (
	"math"
	"time"
)

// fewestForRatio is the sample size below which a share says nothing.
const fewestForRatio = 10

// estimator scales the tallies of one database.
type estimator struct {
	*dbTally
	scaleWith    float64 // keys with TTL for each one seen
	scaleWithout float64
	now          time.Time // the server's clock; zero: unknown
	measured     bool      // sizes of keys were asked for
}

// newEstimator finds the scales. Where the keyspace stands still, INFO's totals
// are better than the share that was covered: keys without TTL cannot have
// expired, so INFO's keys - expires is their exact number; keys with TTL are
// scaled on the live rest, since INFO's number holds expired ones too. Where it
// moves, nobody knows to which groups the new keys belong, and no total fits.
func newEstimator(d *dbTally) *estimator {
	e := &estimator{dbTally: d}
	with, without := d.sums()
	share := math.Max(d.share, 1e-12)
	if !d.still() || d.refused > 0 {
		e.scaleWith, e.scaleWithout = 1/share, 1/share
		return e
	}
	if without > 0 {
		e.scaleWithout = float64(d.after.WithoutTTL()) / float64(without)
	}
	if with > 0 {
		e.scaleWith = math.Max(0, e.live()-float64(d.after.WithoutTTL())) / float64(with)
	}
	return e
}

// still says whether INFO told nearly the same before and after.
func (d *dbTally) still() bool {
	near := func(a, b int64) bool { return math.Abs(float64(a-b)) <= 0.02*float64(max(a, b)) }
	return d.sized && near(d.before.Keys, d.after.Keys) && near(d.before.WithoutTTL(), d.after.WithoutTTL())
}

// live estimates the keys that have not expired. A sample that agrees with INFO
// within its own error (measured: 1.2 / sqrt(n), here twice that) takes INFO's
// number: what is cut off above would bias it otherwise.
func (d *dbTally) live() float64 {
	with, without := d.sums()
	seen := float64(with+without) / math.Max(d.share, 1e-12)
	before, after := float64(d.before.Keys), float64(d.after.Keys)
	growth := 1.0 // a sweep sees a growing keyspace at half its growth
	if after > 0 {
		growth = math.Max(1, 2*after/(before+after))
	}
	if n := float64(with + without); !d.walked && n >= 100 && seen*growth > after*(1-2.4/math.Sqrt(n)) {
		return after
	}
	return math.Min(after, seen*growth)
}

// unreclaimed is the share of INFO's keys that is expired garbage. Keys that
// came while we looked are none.
func (d *dbTally) unreclaimed() *float64 {
	grown := float64(d.after.Keys) > 1.1*float64(d.before.Keys)
	if !d.sized || d.refused > 0 || d.after.Keys == 0 || grown || d.unmet() {
		return nil
	}
	share := 1 - d.live()/float64(d.after.Keys)
	return &share
}

// group estimates one group.
func (e *estimator) group(t *tally) Group {
	g := Group{
		DB:         e.db,
		Name:       t.name,
		Source:     t.source,
		TTL:        Unknown,
		Examined:   t.examined(),
		WithoutTTL: float64(t.without) * e.scaleWithout,
		Excessive:  float64(t.excessive) * e.scaleWith,
	}
	if t.rule != nil {
		g.TTL, g.UniqueNames = t.rule.expectation(), t.rule.UniqueNames
	}
	for i, n := range t.bands {
		g.ByTTL[i] = float64(n) * e.scaleWith
	}
	g.ByTTL[0] = g.WithoutTTL
	g.Keys = g.WithoutTTL + float64(t.with)*e.scaleWith
	if t.expectsTTL() && (t.without == 0 || t.looked > 0) && !t.unreadable() {
		g.Zombies = e.zombies(t, g)
	}
	if e.measured {
		g.Memory = e.memory(t, g)
	}
	return g
}

// zombies scales the confirmed keys and bounds their share.
func (e *estimator) zombies(t *tally, g Group) *Zombies {
	z := &Zombies{Seen: int64(len(t.confirmed)), Rated: g.Keys > 0 && (e.walked || t.examined() >= fewestForRatio)}
	scaled := func(confirmed int) float64 { // multiplied first: whole numbers stay whole
		return g.WithoutTTL * float64(confirmed) / math.Max(1, float64(t.looked))
	}
	leaked, lockout := e.kinds(t)
	z.Keys, z.Leaked, z.LockoutRisk = scaled(len(t.confirmed)), scaled(leaked), scaled(lockout)
	if !z.Rated {
		return z
	}
	z.Ratio = z.Keys / g.Keys
	looks := looks{looked: float64(t.looked), confirmed: float64(z.Seen), all: t.looked == t.without}
	z.Interval = e.interval(z.Ratio, g, looks)
	return z
}

// looks is how the second looks at a group went.
type looks struct {
	looked, confirmed float64
	all               bool // every key seen without TTL was looked at again
}

// interval bounds the zombie ratio. Where all were looked at, the zombies among
// the keys seen are known; else the bounds of the share without TTL and those
// of the confirmed share are multiplied.
func (e *estimator) interval(ratio float64, g Group, l looks) Interval {
	if l.all {
		return e.share(ratio, g)
	}
	bounds := e.share(g.WithoutTTL/g.Keys, g)
	confirmed := clopperPearson(l.confirmed, l.looked)
	return Interval{bounds.Lower * confirmed.Lower, bounds.Upper * confirmed.Upper}
}

// share bounds a share of the group's keys; after a walk there is no doubt.
func (e *estimator) share(ratio float64, g Group) Interval {
	if e.walked {
		return Interval{ratio, ratio}
	}
	n := float64(g.Examined)
	bounds := shareInterval(ratio*n, n, g.Keys)
	return Interval{math.Min(bounds.Lower, ratio), math.Max(bounds.Upper, ratio)} // but for rounding they are
}

// kinds counts the confirmed keys that are leaks, and those with a fixed name
// that lock their caller out.
func (e *estimator) kinds(t *tally) (leaked, lockout int) {
	bound, stated := t.maxTTL()
	if !stated {
		bound = 24 * time.Hour
	}
	for _, k := range t.confirmed {
		at, timed := nameTime(k.name)
		switch {
		case timed && !e.now.IsZero() && e.now.Sub(at) > bound:
			leaked++
		case !timed && t.rule.locksOut():
			lockout++
		}
	}
	return leaked, lockout
}

// memory scales the mean sizes of the keys with and without TTL.
func (e *estimator) memory(t *tally, g Group) *Memory {
	without := t.size.without
	if t.expectsTTL() {
		without = t.size.zombies
	}
	m := &Memory{Keys: without.of(t.size.with)*g.WithoutTTL + t.size.with.of(without)*(g.Keys-g.WithoutTTL)}
	if g.Zombies != nil {
		m.Zombies = t.size.zombies.of(mean{}) * g.Zombies.Keys
	}
	return m
}

// expected takes all groups of a database that expect a TTL together. Its
// zombies are unknown where those of one group are.
func (e *estimator) expected(groups []Group) Group {
	sum := Group{DB: e.db, Zombies: &Zombies{}}
	all := looks{all: true}
	var weights float64 // sum of (share of the keys without TTL)^2 / looks
	var confirmed float64
	for i, t := range e.groups {
		g := groups[i]
		if !t.expectsTTL() {
			continue
		}
		if g.Zombies == nil || e.unmet() {
			return Group{DB: e.db}
		}
		sum.Examined += g.Examined
		sum.Keys += g.Keys
		sum.WithoutTTL += g.WithoutTTL
		sum.Zombies.Keys += g.Zombies.Keys
		sum.Zombies.Seen += g.Zombies.Seen
		all.all = all.all && t.looked == t.without
		if t.looked > 0 {
			weights += g.WithoutTTL * g.WithoutTTL / float64(t.looked)
			confirmed += g.WithoutTTL * float64(len(t.confirmed)) / float64(t.looked)
		}
	}
	z := sum.Zombies
	z.Rated = sum.Keys > 0 && (e.walked || sum.Examined >= fewestForRatio)
	if !z.Rated {
		return sum
	}
	if weights > 0 { // as many looks as one group would need to be this sure
		all.looked = math.Max(1, math.Round(sum.WithoutTTL*sum.WithoutTTL/weights))
		all.confirmed = math.Round(all.looked * confirmed / sum.WithoutTTL)
	}
	z.Ratio = z.Keys / sum.Keys
	z.Interval = e.interval(z.Ratio, sum, all)
	return sum
}

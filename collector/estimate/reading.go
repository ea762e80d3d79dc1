// From counts to a reading: what one sweep of a node says of a group, scaled to
// the whole database. No clock, no Redis.

package estimate

import (
	"math"
	"slices"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/tally"
)

// reading is what is known of a group in a database of a node: from one sweep, or
// from several samples added up.
type reading struct {
	at      time.Time // of the oldest sweep in it
	samples float64   // how many sweeps are added up
	exact   bool      // every key was met
	among   float64   // keys in the database then, or the latest of them

	persistent float64 // keys without TTL in it

	covered  float64 // share of SCAN's order that was, in each sweep in it
	examined float64 // keys met
	effect   float64 // design effect: how many of them count as one

	// Scaled, for each sweep in it.
	keys      float64
	without   float64
	bands     [len(tally.BandNames)]float64
	excessive float64
	kinds     [classify.KindNone]float64

	// Of the keys without TTL that were looked at again; never scaled.
	unknown   bool // some are, and none was looked at
	allLooked bool
	looked    float64
	gone      float64
	confirmed float64
	leaked    float64
	lockout   float64
	tried     float64 // of the confirmed, those whose state was asked
	judged    float64 // and is of a kind that can be compared with a limit
	lockedOut float64

	size tally.Sizes
}

// estimator scales the counts of one database.
type estimator struct {
	*tally.Database
	scaleWith    float64 // keys with TTL for each one seen
	scaleWithout float64
	now          time.Time // the server's clock; zero: unknown
	at           time.Time // when the sweep ended
}

// newEstimator finds the scales. Where the keyspace stands still, INFO's totals
// are better than the share that was covered: keys without TTL cannot have
// expired, so INFO's keys - expires is their exact number; keys with TTL are
// scaled on the live rest, since INFO's number holds expired ones too. Where it
// moves, nobody knows to which groups the new keys belong, and no total fits.
func newEstimator(d *tally.Database) *estimator {
	e := &estimator{Database: d}
	with, without := d.Sums()
	share := math.Max(d.Share, 1e-12)
	if !still(d) || d.Refused > 0 {
		e.scaleWith, e.scaleWithout = 1/share, 1/share
		return e
	}
	if without > 0 {
		e.scaleWithout = float64(d.After.WithoutTTL()) / float64(without)
	}
	if with > 0 {
		e.scaleWith = math.Max(0, live(d)-float64(d.After.WithoutTTL())) / float64(with)
	}
	return e
}

// still says whether INFO told nearly the same before and after.
func still(d *tally.Database) bool {
	return d.Sized && movedAtMost(d, 0.02)
}

// steady says whether a long walk's database is still about the same: else what
// the walk found is of no time.
func steady(d *tally.Database) bool {
	return !d.Sized || movedAtMost(d, 0.2)
}

// movedAtMost says whether neither INFO's keys nor those without TTL moved by more
// than a share.
func movedAtMost(d *tally.Database, share float64) bool {
	near := func(a, b int64) bool { return math.Abs(float64(a-b)) <= share*float64(max(a, b)) }
	return near(d.Before.Keys, d.After.Keys) && near(d.Before.WithoutTTL(), d.After.WithoutTTL())
}

// live estimates the keys that have not expired. A sample that agrees with INFO
// within three times its own error (measured: 0.95 / sqrt(n)) takes INFO's
// number: what is cut off above would bias it otherwise.
func live(d *tally.Database) float64 {
	with, without := d.Sums()
	seen := float64(with+without) / math.Max(d.Share, 1e-12)
	before, after := float64(d.Before.Keys), float64(d.After.Keys)
	growth := 1.0 // a sweep sees a growing keyspace at half its growth
	if after > 0 {
		growth = math.Max(1, 2*after/(before+after))
	}
	if n := float64(with + without); !d.Walked && n >= 100 && seen*growth > after*(1-3/math.Sqrt(n)) {
		return after
	}
	return math.Min(after, seen*growth)
}

// Unreclaimed is the share of INFO's keys that is expired garbage. Keys that
// came while we looked are none. Other packages have it by [Counted], but for the
// tests of sweep, which want it of one database.
func Unreclaimed(d *tally.Database) *float64 {
	grown := float64(d.After.Keys) > 1.1*float64(d.Before.Keys)
	if !d.Sized || d.Refused > 0 || d.After.Keys == 0 || grown || d.Unmet() {
		return nil
	}
	share := 1 - live(d)/float64(d.After.Keys)
	return &share
}

// among is how many keys the database has, as well as that is known.
func among(d *tally.Database) float64 {
	if d.Sized {
		return float64(d.After.Keys)
	}
	return d.Met() / math.Max(d.Share, 1e-12)
}

// reading scales a group's counts.
func (e *estimator) reading(t *tally.Group) reading {
	r := reading{
		at:         e.at,
		samples:    1,
		exact:      e.Walked,
		among:      among(e.Database),
		persistent: float64(e.After.WithoutTTL()),
		covered:    e.Share,
		examined:   float64(t.Examined()),
		effect:     t.Tags.Effect(t.Examined(), t.Without),
		without:    float64(t.Without) * e.scaleWithout,
		excessive:  float64(t.Excessive) * e.scaleWith,
		unknown:    t.ExpectsTTL() && t.Without > 0 && t.Looked == 0 || t.Unreadable(),
		allLooked:  t.Looked == t.Without,
		looked:     float64(t.Looked),
		gone:       float64(t.Gone),
		confirmed:  float64(len(t.Confirmed)),
		tried:      float64(t.States.Tried),
		judged:     float64(t.States.Judged),
		lockedOut:  float64(t.States.LockedOut),
		size:       t.Size,
	}
	r.keys = r.without + float64(t.With)*e.scaleWith
	for i, n := range t.Bands {
		r.bands[i] = float64(n) * e.scaleWith
	}
	r.bands[0] = r.without
	for i, n := range t.Kinds {
		r.kinds[i] = float64(n[0])*e.scaleWith + float64(n[1])*e.scaleWithout
	}
	r.leaked, r.lockout = e.consequences(t)
	return r
}

// holdsTimes says whether what looks like unix times in the names of a group are
// some. Of its keys with a TTL, which are in use, most are of now then; a phone
// number or another id of ten digits is not. Where no key with a TTL tells, a time
// that is still to come is none.
func holdsTimes(t *tally.Group, now time.Time) bool {
	if now.IsZero() {
		return true
	}
	bound, stated := t.MaxTTL("")
	if !stated {
		bound = classify.LeakAfter
	}
	current := 0
	for _, at := range t.Times {
		if now.Sub(at).Abs() <= bound {
			current++
		}
	}
	if len(t.Times) > 0 {
		return 2*current >= len(t.Times)
	}
	return !slices.ContainsFunc(t.Confirmed, func(k tally.Key) bool {
		at, found := classify.TimeIn(k.Name)
		return found && at.Sub(now) > bound
	})
}

// consequences counts the confirmed keys that are leaks, and those with a fixed
// name that lock their caller out.
func (e *estimator) consequences(t *tally.Group) (leaked, lockout float64) {
	if !t.ExpectsTTL() {
		return 0, 0
	}
	fixed := t.Definition.Lockout && !holdsTimes(t, e.now)
	for _, k := range t.Confirmed {
		switch leaks, timed := t.Definition.Leaks(k.Name, e.now, fixed); {
		case leaks:
			leaked++
		case !timed && t.Definition.Lockout:
			lockout++
		}
	}
	return leaked, lockout
}

// add takes the reading of another sweep of the same group along.
func (r *reading) add(other reading) {
	if r.at.IsZero() || other.at.Before(r.at) {
		r.at = other.at
	}
	if r.samples == 0 {
		r.exact, r.allLooked, r.among, r.persistent = true, true, other.among, other.persistent
	}
	if examined := r.examined + other.examined; examined > 0 {
		r.effect = (r.effect*r.examined + other.effect*other.examined) / examined
	}
	r.samples += other.samples
	r.exact = r.exact && other.exact
	r.covered += other.covered
	r.examined += other.examined
	r.keys += other.keys
	r.without += other.without
	r.excessive += other.excessive
	for i, n := range other.bands {
		r.bands[i] += n
	}
	for i, n := range other.kinds {
		r.kinds[i] += n
	}
	r.looked += other.looked
	r.unknown = r.looked == 0 && (r.unknown || other.unknown)
	r.allLooked = r.allLooked && other.allLooked
	r.gone += other.gone
	r.confirmed += other.confirmed
	r.leaked += other.leaked
	r.lockout += other.lockout
	r.tried += other.tried
	r.judged += other.judged
	r.lockedOut += other.lockedOut
	r.size.Add(other.size)
}

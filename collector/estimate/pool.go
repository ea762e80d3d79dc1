// Groups too rare for one sample: the readings of their last samples, and what the
// last full walk found of them.

package estimate

import (
	"math"
	"slices"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

// A group with fewer examined keys than this takes its figures from several
// samples, which are independent of each other.
const fewExamined = 1000

// poolDrift is the share by which a sample's database, or its keys without TTL,
// may have been more or fewer than they are now: the mean of samples from other
// times would lag behind.
const poolDrift = 0.1

// Pools keeps the last samples' readings of groups too rare for one.
type Pools struct {
	most   int           // samples of a group, the latest included
	oldest time.Duration // how old a sample may be
	of     map[pooled]*pool

	walks     map[pooled]fullReading // what the last full walk found
	fullEvery time.Duration
}

// fullReading is what a full walk found of a group.
type fullReading struct {
	number int // the classifier's
	reading
}

// pooled is a group in a database.
type pooled struct {
	db   int
	name string
}

type pool struct {
	number   int // the classifier's; -1: discovered
	readings []reading
}

// NewPools keeps as many samples, and for as long, as the settings say.
func NewPools(sweep spec.Sweep) *Pools {
	return &Pools{
		most:      max(1, sweep.Pool),
		oldest:    2 * time.Duration(max(1, sweep.Pool)) * sweep.Interval,
		of:        map[pooled]*pool{},
		walks:     map[pooled]fullReading{},
		fullEvery: sweep.FullEvery,
	}
}

// Keep takes what a full walk found of a database's described groups by the
// server's clock, now, when the walk ended, at; samples from before it count no
// longer.
func (p *Pools) Keep(c *classify.Classifier, d *tally.Database, now, at time.Time) {
	p.forget(d.DB)
	if !steady(d) {
		return
	}
	e := newEstimator(d)
	e.now, e.at = now, at
	for _, t := range e.Groups {
		if t.Definition != nil && t.Examined() > 0 && 5*t.Gone <= t.Without {
			number := slices.Index(c.Definitions, t.Definition)
			p.walks[pooled{e.DB, t.Name}] = fullReading{number, e.reading(t)}
		}
	}
}

// forget drops the samples of a database: a walk knows better.
func (p *Pools) forget(db int) {
	for group := range p.of {
		if group.db == db {
			delete(p.of, group)
		}
	}
	for group := range p.walks {
		if group.db == db {
			delete(p.walks, group)
		}
	}
}

// absent are the numbers of the database's described groups that were met before
// and are not among those met now.
func (p *Pools) absent(db int, met func(number int) bool) []int {
	var numbers []int
	for group, walked := range p.walks {
		if group.db == db && !met(walked.number) {
			numbers = append(numbers, walked.number)
		}
	}
	for group, pool := range p.of {
		if group.db == db && pool.number >= 0 && !met(pool.number) {
			numbers = append(numbers, pool.number)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// add keeps a sample's reading and answers what is known of the group now: from
// the last full walk where the group is rare and no sample since speaks against
// it, else from the last samples.
func (p *Pools) add(group pooled, number int, latest reading) reading {
	walked, known := p.walks[group]
	sum := p.sum(group, number, latest, known)
	if known && sum.examined < fewExamined && latest.at.Sub(walked.at) <= 2*p.fullEvery && !walked.contradicted(sum) {
		return walked.reading
	}
	delete(p.walks, group) // what was not so once is not so again
	return sum
}

// unlikely is how improbable samples must be, if what a full walk found still
// held, to speak against it.
const unlikely = 1e-4

// contradicted says whether samples since the walk show another number of keys
// or another share without TTL than it found.
func (f *fullReading) contradicted(since reading) bool {
	expected := since.covered * f.keys
	if math.Abs(since.examined-expected) > 4*math.Sqrt(expected)+4 { // a Poisson number's four standard errors
		return true
	}
	n := since.examined
	if n == 0 {
		return false
	}
	without := math.Round(n * since.without / since.keys)
	share := math.Max(1/(f.keys+2), math.Min(f.without/f.keys, 1-1/(f.keys+2)))
	return BinomialAtLeast(without, n, share) < unlikely || BinomialAtLeast(n-without, n, 1-share) < unlikely
}

// sum keeps a sample's reading and answers it together with as many earlier ones
// of a database of about the same size as are needed. A sample that met no key
// of a group that is known counts like any other.
func (p *Pools) sum(group pooled, number int, latest reading, known bool) reading {
	kept := p.of[group]
	if latest.examined >= fewExamined || kept == nil && latest.examined == 0 && !known {
		delete(p.of, group)
		return latest
	}
	if kept == nil {
		kept = &pool{number: number}
		p.of[group] = kept
	}
	kept.readings = append(kept.readings, latest)
	kept.readings = slices.DeleteFunc(kept.readings, func(r reading) bool { return latest.at.Sub(r.at) > p.oldest })
	kept.readings = slices.Delete(kept.readings, 0, max(0, len(kept.readings)-p.most))
	var sum reading
	for _, r := range slices.Backward(kept.readings) {
		if drifted(r.among, latest.among) || drifted(r.persistent, latest.persistent) {
			continue
		}
		if sum.add(r); sum.examined >= fewExamined {
			break
		}
	}
	if sum.examined == 0 && !known {
		delete(p.of, group)
	}
	return sum
}

// drifted says whether a number of keys differs from what it is now by more than
// its tenth, or by more than a few.
func drifted(then, now float64) bool {
	return math.Abs(then-now) > math.Max(poolDrift*now, fewKeys)
}

// fewKeys is a difference that says nothing, however small the number.
const fewKeys = 20

// Reset forgets everything: the server is another one.
func (p *Pools) Reset() {
	clear(p.of)
	clear(p.walks)
}

// drop forgets the samples of discovered groups that were not shown this time:
// their keys were counted elsewhere.
func (p *Pools) drop(db int, shown func(name string) bool) {
	for group, pool := range p.of {
		if group.db == db && pool.number < 0 && !shown(group.name) {
			delete(p.of, group)
		}
	}
}

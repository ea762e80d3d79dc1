package estimate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

func sampleOf(at int, examined, without float64) reading {
	return reading{
		at: time.Unix(int64(at)*60, 0), samples: 1, effect: 1, examined: examined, keys: 20 * examined, without: 20 * without,
		looked: without, confirmed: without, allLooked: true,
	}
}

func TestPool(t *testing.T) {
	sweep := spec.Sweep{Interval: time.Minute, Pool: 3}
	group := pooled{0, "limit"}
	p := NewPools(sweep)
	for i, test := range []struct {
		at       int
		examined float64
		samples  float64 // that are taken together
		sum      float64 // of their examined keys
	}{
		{0, 0, 1, 0}, // no key ever: nothing is kept
		{1, 100, 1, 100},
		{2, 200, 2, 300},
		{3, 0, 3, 300},   // none this time counts
		{4, 500, 3, 700}, // at most three
		{5, 700, 2, 1200},
		{6, 1000, 1, 1000}, // enough by itself: the others are forgotten
		{7, 10, 1, 10},
		{20, 10, 1, 10}, // too long ago
		{21, 0, 2, 10},
		{22, 0, 3, 10},
		{23, 0, 3, 0},
	} {
		got := p.add(group, 0, sampleOf(test.at, test.examined, test.examined/10))
		if got.samples != test.samples || got.examined != test.sum {
			t.Errorf("step %d: %v samples with %v keys, want %v with %v", i, got.samples, got.examined, test.samples, test.sum)
		}
		figures := strata{&got}
		if keys := figures.sum(func(r *reading) float64 { return r.keys }); keys != 20*test.sum/test.samples {
			t.Errorf("step %d: %v keys", i, keys)
		}
	}
	if len(p.of) != 0 {
		t.Errorf("%d pools are left of groups without keys", len(p.of))
	}
}

// A pooled share is as sure as one sample of as many keys of a population as
// large as all samples' together.
func TestPooledInterval(t *testing.T) {
	p := NewPools(spec.Sweep{Interval: time.Minute, Pool: 10})
	var sum reading
	for i := range 10 {
		sum = p.add(pooled{0, "limit"}, 0, sampleOf(i, 90, 9))
	}
	s := strata{&sum}
	g := Group{}
	s.group(&g)
	z := s.zombies(g.Keys, g.WithoutTTL)
	want := shareInterval(90, 900, 18_000/(1-uneven))
	if z.Ratio != 0.1 || z.Seen != 90 || g.Examined != 900 || g.Keys != 1800 || !g.Oldest.Equal(time.Unix(0, 0)) ||
		!near(z.Interval.Lower, want.Lower) || !near(z.Interval.Upper, want.Upper) {
		t.Errorf("%+v, %+v, want the interval %v", g, z, want)
	}
}

// Nodes are strata: what they hold is added, and each is as sure as its own
// sample.
func TestFiguresOfNodes(t *testing.T) {
	node := func(share float64, keys, with, without, confirmed int64) *Counted {
		size := source.DBSize{Keys: keys, Expires: keys * with / (with + without)}
		d := seenDB(t, share, size, size)
		saw(d.Groups[0], with, without, without, confirmed)
		readings := map[*tally.Group]*reading{}
		for _, g := range d.Groups {
			r := newEstimator(d).reading(g)
			readings[g] = &r
		}
		return &Counted{Databases: []*tally.Database{d}, readings: readings}
	}
	t.Run("walks add up", func(t *testing.T) {
		databases, groups := Figures(node(1, 100, 90, 10, 10), node(1, 300, 280, 20, 5))
		z := groups[0].Zombies
		if groups[0].Keys != 400 || z.Keys != 15 || z.Interval != (Interval{15. / 400, 15. / 400}) || databases[0].Keys != 400 || databases[0].WithoutTTL != 30 ||
			*databases[0].Expected.Zombies != *z {
			t.Errorf("%+v, %+v of %+v", databases, z, groups[0])
		}
	})
	t.Run("a walk makes a sample surer", func(t *testing.T) {
		alone := func(nodes ...*Counted) Interval {
			_, groups := Figures(nodes...)
			return groups[0].Zombies.Interval
		}
		sample := alone(node(0.1, 10_000, 900, 100, 100))
		both := alone(node(0.1, 10_000, 900, 100, 100), node(1, 10_000, 9000, 1000, 1000))
		twice := alone(node(0.1, 10_000, 900, 100, 100), node(0.1, 10_000, 900, 100, 100))
		width := func(i Interval) float64 { return i.Upper - i.Lower }
		if w := width(both) / width(sample); w < 0.49 || w > 0.51 {
			t.Errorf("half of it known for sure leaves %.3f of the width", w)
		}
		if w := width(twice) / width(sample); w < 0.69 || w > 0.72 {
			t.Errorf("two samples have %.3f of the width of one", w)
		}
	})
	t.Run("more groups than there is room for", func(t *testing.T) {
		nodes := []*Counted{node(1, 100, 90, 10, 10), node(1, 300, 280, 20, 5)}
		for i, n := range nodes {
			n.Room = 5 // two rules, (other), and two more
			for j := range 3 {
				extra := &tally.Group{Name: fmt.Sprintf("n%d-%d:*", i, j), Source: classify.SourceDiscovered}
				n.readings[extra] = &reading{samples: 1, exact: true, examined: float64(10*j + i + 1), keys: float64(10*j + i + 1)}
				n.Databases[0].Groups = append(n.Databases[0].Groups, extra)
			}
		}
		_, groups := Figures(nodes...)
		var names []string
		keys := 0.0
		for _, g := range groups {
			names = append(names, g.Name)
			keys += g.Keys
		}
		if strings.Join(names, " ") != "limit flag (other) n0-2:* n1-2:*" || keys != 400+1+2+11+12+21+22 {
			t.Errorf("%v have %v keys", names, keys)
		}
	})
	t.Run("one that nobody could look at", func(t *testing.T) {
		blind := node(1, 300, 280, 20, 0)
		of := blind.readings[blind.Databases[0].Groups[0]]
		of.looked, of.unknown = 0, true
		databases, groups := Figures(node(1, 100, 90, 10, 10), blind)
		if groups[0].Zombies != nil || groups[0].Keys != 400 || databases[0].Expected.Zombies != nil {
			t.Errorf("%+v", groups[0])
		}
	})
}

// TestFullWalkOfAChange: what a walk found of a database that became another one
// meanwhile stands for nothing.
func TestFullWalkOfAChange(t *testing.T) {
	d := &tally.Database{Sized: true, Before: source.DBSize{Keys: 1000, Expires: 900}, After: source.DBSize{Keys: 500, Expires: 400}}
	if steady(d) {
		t.Error("half of the keys are gone, and it is steady")
	}
	if d.After = (source.DBSize{Keys: 900, Expires: 800}); !steady(d) {
		t.Error("a tenth of the keys is gone, and it is not steady")
	}
}

// How often the intervals hold the truth, on a real Redis: sweeps are repeated
// over keyspaces whose truth is known.

package collector

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// repetition is many sweeps of several keyspaces that differ only in where
// their keys lie.
type repetition struct {
	target    Target
	node      node
	crowds    []crowd
	fill      func(salt int)
	keyspaces int
	sweeps    int          // of each
	look      func(*swept) // at every one, if set
}

// run sweeps and answers a cell for each group with a rule.
func (r repetition) run(t *testing.T) []*cell {
	t.Helper()
	var cells []*cell
	for _, c := range r.crowds {
		if c.name != "rest" {
			cells = append(cells, newCell(c))
		}
	}
	pool := r.target.Sweep.Pool
	for keyspace := range r.keyspaces {
		r.fill(keyspace)
		s := hasty(r.target, r.node, uint64(keyspace))
		for range pool - 1 { // the first ones stand on fewer samples
			sweepOf(t, s)
		}
		for range r.sweeps {
			result := sweepOf(t, s)
			if r.look != nil {
				r.look(result)
			}
			for _, c := range cells {
				c.pooled = pool > 1
				c.add(t, keyspace, result)
			}
		}
	}
	return cells
}

// wantAll wants of every cell what the statistics promise.
func wantAll(t *testing.T, cells []*cell, chance float64) {
	t.Helper()
	beyond, figures := 0, 0
	for _, c := range cells {
		what, independent := fmt.Sprintf("%s, %g %% without TTL", c.name, 100*c.ratio.truth), 1.0
		if c.pooled {
			independent = 0.1
		}
		c.share.want(t, what+", the share without TTL", independent, chance)
		c.zombie.want(t, what+", the zombie ratio", independent, chance)
		if width := c.width(); c.counts() >= manyCounts && math.Abs(width-1) > widthWithin {
			t.Errorf("%s: intervals are %.2f times as wide as the binomial's", what, width)
		}
		for _, f := range c.figures() {
			_, z := f.bias(f.unequal)
			figures++
			if math.Abs(z) > 2 {
				beyond++
			}
			if math.Abs(z) > 5.5 {
				t.Errorf("%s: biased by %.1f standard errors: %s", what, z, c)
			}
		}
	}
	// One in twenty is beyond two standard errors by chance, and a cell's figures
	// go together.
	if beyond > allowed(figures, 0.06, chance) {
		t.Errorf("%d of %d figures are biased by more than 2 standard errors", beyond, figures)
	}
}

func table(cells []*cell) string {
	lines := []string{cellHead}
	for _, c := range cells {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

// fills are three keyspaces of 500,000 keys in which groups of 50, 5 and 0.5 %
// of the keys have 1, 5 and 50 % without TTL, each group each share once. One
// in five of those is healthy at the second look.
func fills() [][]crowd {
	sizes, names, shares := []int{250_000, 25_000, 2500}, []string{"half", "twentieth", "rare"}, []int{1, 5, 50}
	var all [][]crowd
	for turn := range shares {
		crowds := []crowd{{name: "rest", keys: 222_500, zombies: 110_000}}
		for i, size := range sizes {
			without := size * shares[(i+turn)%len(shares)] / 100
			crowds = append(crowds, crowd{name: names[i], keys: size, zombies: without - without/5, flicker: without / 5})
		}
		all = append(all, crowds)
	}
	return all
}

// chances are those by which a sound estimator fails: in CI so small that it
// does not, in full so that 1,000 samples tell.
func chances() float64 {
	if inFull() {
		return 1e-3
	}
	return 1e-8
}

func TestStatsCoverage(t *testing.T) {
	type plan struct {
		budget            int64
		keyspaces, sweeps int
	}
	plans := []plan{{10_000, 1, 60}}
	if inFull() {
		plans = []plan{{10_000, 20, 100}, {100_000, 10, 40}}
	}
	s := redistest.Start(t)
	for _, p := range plans {
		t.Run(fmt.Sprint(p.budget), func(t *testing.T) {
			began, sweeps := time.Now(), 0
			var cells []*cell
			for _, crowds := range fills() {
				target := crowdTarget(t, s.Addr(), crowds, p.budget)
				cells = append(cells, repetition{
					target: target, node: serverOf(target), crowds: crowds,
					fill:      func(salt int) { fillCrowds(t, s, salt, crowds) },
					keyspaces: p.keyspaces, sweeps: p.sweeps,
				}.run(t)...)
				sweeps += p.keyspaces * p.sweeps
			}
			t.Logf("%d sweeps of %d keyspaces in %.0f s\n%s", sweeps, 3*p.keyspaces, time.Since(began).Seconds(), table(cells))
			wantAll(t, cells, chances())
		})
	}
}

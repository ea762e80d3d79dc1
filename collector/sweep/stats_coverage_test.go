// How often the intervals hold the truth, on a real Redis: sweeps are repeated
// over keyspaces whose truth is known.

package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// repetition is many sweeps of several keyspaces that differ only in where
// their keys lie.
type repetition struct {
	target    spec.Target
	nodes     []source.Node
	cluster   bool // they are nodes of one
	crowds    []crowd
	fill      func(salt int)
	keyspaces int
	sweeps    int           // of each
	look      func(*Result) // at every node's, if set
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
	for keyspace := range r.keyspaces {
		r.fill(keyspace)
		var sweepers []*sweeper
		for _, n := range r.nodes {
			s := hasty(r.target, n, uint64(keyspace))
			s.inCluster = r.cluster
			sweepers = append(sweepers, s)
		}
		early := r.target.Sweep.Pool - 1 // figures of fewer samples than the rest
		for i := range early + r.sweeps {
			var swept []*Result
			for _, s := range sweepers {
				swept = append(swept, sweepOf(t, s))
				if r.look != nil {
					r.look(swept[len(swept)-1])
				}
			}
			for _, c := range cells {
				c.pooled = early > 0
				if i >= early {
					c.add(t, keyspace, swept)
				}
			}
		}
	}
	return cells
}

// tagBias is how far off the size of a group may be that lies in few slots of a
// node with one dictionary a slot: 1 % low was measured. The likely reason: a
// page's last bucket shows more keys than were asked for, the more the fuller the
// slot's table is.
const tagBias = 0.02

// wantAll wants of every cell what the statistics promise.
func wantAll(t *testing.T, cells []*cell, chance float64) {
	t.Helper()
	beyond, figures := 0, 0
	var share, zombie coverage // of all cells, which tell more than each by itself
	independent := 1.0
	for _, c := range cells {
		what := fmt.Sprintf("%s, %.3g %% without TTL", c.name, 100*c.ratio.truth)
		if c.pooled { // ten sweeps share each sample
			independent = 0.1
		}
		c.share.want(t, what+", the share without TTL", independent, chance)
		c.zombie.want(t, what+", the zombie ratio", independent, chance)
		share.merge(c.share)
		zombie.merge(c.zombie)
		if width := c.width(); c.tagged == 0 && c.counts() >= manyCounts && math.Abs(width-1) > widthWithin {
			t.Errorf("%s: intervals are %.2f times as wide as the binomial's", what, width)
		}
		for _, f := range c.figures() {
			off, z := f.bias(f.unequal)
			if c.tagged > 0 && math.Abs(off) < tagBias*f.truth {
				continue
			}
			figures++
			if math.Abs(z) > 2 {
				beyond++
			}
			if math.Abs(z) > 5.5 {
				t.Errorf("%s: biased by %.1f standard errors: %s", what, z, c)
			}
		}
	}
	ofAll := [2]float64{mostMissedOfAll, mostMissedLowOfAll}
	share.wantAtMost(t, "all shares without TTL", ofAll, independent, chance)
	zombie.wantAtMost(t, "all zombie ratios", ofAll, independent, chance)
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
	plans := []plan{{10_000, 1, 40}}
	if inFull() {
		plans = []plan{{10_000, 10, 100}, {100_000, 10, 30}}
	}
	s := redistest.Start(t)
	for _, p := range plans {
		t.Run(fmt.Sprint(p.budget), func(t *testing.T) {
			began, sweeps := time.Now(), 0
			var cells []*cell
			for _, crowds := range fills() {
				target := crowdTarget(t, s.Addr(), crowds, p.budget)
				cells = append(cells, repetition{
					target: target, nodes: []source.Node{serverOf(target)}, crowds: crowds,
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

// measureTwoThirds on a fake: the largest part that a sample can meet,
// where the doubt that is left is not only that of drawing keys.
func measureTwoThirds(t *testing.T) {
	var cells []*cell
	for _, percent := range []int{1, 5, 50} {
		crowds := []crowd{
			{name: "half", keys: 10_000, zombies: 100 * percent},
			{name: "twentieth", keys: 1000, zombies: 10 * percent},
			{name: "rest", keys: 9000, zombies: 4000},
		}
		n := fake.NewNode(t)
		cells = append(cells, repetition{
			target: crowdTarget(t, "", crowds, 12_900), nodes: []source.Node{n}, crowds: crowds,
			fill:      func(salt int) { crowdNode(n, salt, crowds) },
			look:      func(*Result) { n.Forget() },
			keyspaces: 60, sweeps: 15,
		}.run(t)...)
	}
	t.Logf("\n%s", table(cells))
	wantAll(t, cells, chances())
}

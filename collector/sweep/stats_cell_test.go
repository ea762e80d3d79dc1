// What a repetition test adds up over its sweeps, a cell for each group, and
// what it wants of a cell. Nothing here sweeps.

package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"keyhealth/collector/estimate"
)

// What every cell has to hold: 95 % intervals, of which the lower bound is the
// one that alerts stand on.
const (
	mostMissed    = 0.065
	mostMissedLow = 0.035
	widthWithin   = 0.15
	manyCounts    = 50 // from which on an interval is as wide as the binomial's

	// Over all cells: few counts miss less often.
	mostMissedOfAll    = 0.04
	mostMissedLowOfAll = 0.025
)

// coverage counts how often an interval held the truth.
type coverage struct {
	n, low, high int
	width        float64 // summed
}

func (c *coverage) add(i estimate.Interval, truth float64) {
	c.n++
	c.width += i.Upper - i.Lower
	switch {
	case i.Lower > truth+1e-12:
		c.low++
	case i.Upper < truth-1e-12:
		c.high++
	}
}

func (c *coverage) merge(from coverage) {
	c.n, c.low, c.high, c.width = c.n+from.n, c.low+from.low, c.high+from.high, c.width+from.width
}

func (c *coverage) String() string {
	return fmt.Sprintf("%.1f (%.1f)", 100*(1-float64(c.low+c.high)/float64(c.n)), 100*float64(c.low)/float64(c.n))
}

// allowed is how many of n may miss, each with a chance of share, so that more
// do with a chance below the given one.
func allowed(n int, share, chance float64) int {
	k := int(float64(n) * share)
	for estimate.BinomialAtLeast(float64(k+1), float64(n), share) > chance {
		k++
	}
	return k
}

// want fails where more sweeps missed the truth than chance allows. Sweeps that
// share samples with each other count as fewer.
func (c *coverage) want(t *testing.T, what string, independent, chance float64) {
	t.Helper()
	c.wantAtMost(t, what, [2]float64{mostMissed, mostMissedLow}, independent, chance)
}

func (c *coverage) wantAtMost(t *testing.T, what string, missed [2]float64, independent, chance float64) {
	t.Helper()
	n := int(float64(c.n) * independent)
	if n == 0 {
		t.Fatalf("%s: no sweep", what)
	}
	scaled := func(misses int) int { return int(float64(misses) * independent) }
	if scaled(c.low+c.high) > allowed(n, missed[0], chance) || scaled(c.low) > allowed(n, missed[1], chance) {
		t.Errorf("%s: %s %% covered (missed low) of %d", what, c, c.n)
	}
}

// moments of what several sweeps of one keyspace said.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

func (m *moments) mean() float64 { return m.sum / m.n }

func (m *moments) variance() float64 {
	return math.Max(0, m.squares/m.n-m.mean()*m.mean()) * m.n / math.Max(1, m.n-1)
}

// estimates of one figure, by keyspace.
type estimates struct {
	truth float64
	of    []moments
}

func (e *estimates) add(keyspace int, x float64) {
	for len(e.of) <= keyspace {
		e.of = append(e.of, moments{})
	}
	e.of[keyspace].add(x)
}

// bias is the mean's distance from the truth, in itself and in standard errors.
// In one keyspace a key's chance to be met depends on its neighbours in SCAN's
// order (its coefficient of variation is 0.31 with pages of 10: statistics.md
// in the project's history), so that even the mean of endless sweeps is a
// little off. Where there are several keyspaces their means show that (by few of
// them it can be too little, never less than the sweeps' own error), else unequal
// is what it makes of a figure.
func (e *estimates) bias(unequal float64) (off, errors float64) {
	var all, means moments
	for i := range e.of {
		means.add(e.of[i].mean())
		all.n, all.sum = all.n+e.of[i].n, all.sum+e.of[i].sum
	}
	off = all.mean() - e.truth
	variance := 0.0 // of the mean, were all sweeps independent
	for i := range e.of {
		variance += e.of[i].variance() / e.of[i].n / (means.n * means.n)
	}
	if means.n < 8 {
		variance += unequal * unequal / means.n
	} else {
		variance = math.Max(variance, means.variance()/means.n)
	}
	return off, off / math.Sqrt(math.Max(variance, 1e-300))
}

// cell is one group over all sweeps.
type cell struct {
	crowd
	share, zombie                 coverage // of the share without TTL, and of the zombie ratio
	ratio, without, size, zombies estimates
	examined                      moments
	pooled                        bool
}

func newCell(c crowd) *cell {
	share := float64(c.without()) / float64(c.keys)
	return &cell{
		crowd:   c,
		ratio:   estimates{truth: share},
		without: estimates{truth: float64(c.without())},
		size:    estimates{truth: float64(c.keys)},
		zombies: estimates{truth: float64(c.zombies)},
	}
}

// add takes a sweep's figures of the group along.
func (c *cell) add(t *testing.T, keyspace int, nodes []*Result) {
	t.Helper()
	_, groups := estimate.Figures(counted(nodes)...)
	g := groupOf(groups, 0, c.name)
	if g == nil || g.Zombies == nil {
		t.Fatalf("no figures of %s", c.name)
	}
	c.examined.add(float64(g.Examined))
	c.without.add(keyspace, g.WithoutTTL)
	c.size.add(keyspace, g.Keys)
	c.zombies.add(keyspace, g.Zombies.Keys)
	if !g.Zombies.Rated {
		return // fewer than ten keys say nothing of a share
	}
	c.ratio.add(keyspace, g.WithoutTTL/g.Keys)
	c.share.add(estimate.ShareWithoutTTL(0, c.name, counted(nodes)...), c.ratio.truth)
	c.zombie.add(g.Zombies.Interval, c.zombies.truth/c.size.truth)
}

func counted(nodes []*Result) []*estimate.Counted {
	all := make([]*estimate.Counted, len(nodes))
	for i, node := range nodes {
		all[i] = &node.Counted
	}
	return all
}

// width is the interval's mean width as a share of what the binomial
// distribution allows for the keys examined, drawn without replacement.
func (c *cell) width() float64 {
	n, p := c.examined.mean(), c.ratio.truth
	population := c.size.truth
	if c.pooled {
		population = math.Inf(1)
	}
	binomial := 2 * 1.96 * math.Sqrt(p*(1-p)/n*math.Max(0, 1-n/population))
	return c.share.width / float64(c.share.n) / binomial
}

// unequal is the coefficient of variation of the keys' chances to be met, a
// little more than was measured.
const unequal = 0.4

// figures are the estimates of a cell, each with what unequal chances make of
// its mean in one keyspace.
func (c *cell) figures() []figure {
	p, cv := c.ratio.truth, unequal
	if c.tagged > 0 {
		cv *= math.Sqrt(math.Min(float64(c.tagged), 20)) // keys with a tag are met together
	}
	return []figure{
		{&c.ratio, cv * math.Sqrt(p*(1-p)/c.size.truth)},
		{&c.without, cv * math.Sqrt(c.without.truth)},
		{&c.size, cv * math.Sqrt(c.size.truth)},
		{&c.zombies, cv * math.Sqrt(c.zombies.truth)},
	}
}

type figure struct {
	*estimates
	unequal float64
}

const cellHead = "| group | without TTL | seen of it | covered, % (missed low) | zombie ratio | width | bias of ratio, count, size, zombies, % (in standard errors) |\n|---|---|---|---|---|---|---|"

func (c *cell) String() string {
	width := "-"
	if c.counts() >= manyCounts {
		width = fmt.Sprintf("%.2f", c.width())
	}
	var biases []string
	for _, f := range c.figures() {
		off, errors := f.bias(f.unequal)
		biases = append(biases, fmt.Sprintf("%.2f (%.1f)", 100*off/f.truth, errors))
	}
	return fmt.Sprintf("| %s | %.3g %% | %.1f of %.0f | %s | %s | %s | %s |", c.name, 100*c.ratio.truth, c.counts(), c.examined.mean(),
		c.share.String(), c.zombie.String(), width, strings.Join(biases, ", "))
}

func (c *cell) counts() float64 { return c.examined.mean() * c.ratio.truth }

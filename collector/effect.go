// The design effect of hash tags: on a node with one dictionary a slot a page
// meets keys with the same tag together, and such keys often fare alike, so that
// a sample of them tells less than as many keys from anywhere.

package collector

import "math"

// tagSums sum over the clusters of a group's keys. A cluster is the keys of one
// page with the same hash tag; a key without a tag is one by itself.
type tagSums struct {
	squares int64 // of the clusters' sizes
	mixed   int64 // in each cluster, keys without TTL times keys with one
}

func (s *tagSums) merge(from tagSums) {
	s.squares += from.squares
	s.mixed += from.mixed
}

// effect is the design effect of a group of which keys were met, some without
// TTL: the variance of its share of keys without TTL, as a multiple of that of
// keys drawn one by one. At least 1, and 1 where no clusters were counted. The
// correlation within clusters is taken from the pairs of keys that differ; where
// no key differs from any other nothing shows it, and it counts as complete.
// (Kish, Survey Sampling, 1965, 5.4.)
func (s tagSums) effect(keys, without int64) float64 {
	if s.squares <= keys {
		return 1
	}
	n := float64(keys)
	correlation := 1.0
	if p := float64(without) / n; without > 0 && without < keys {
		differ := 2 * float64(s.mixed) / (float64(s.squares) - n)
		correlation = math.Max(0, math.Min(1, 1-differ/(2*p*(1-p))))
	}
	return math.Max(1, 1+correlation*(float64(s.squares)/n-1))
}

// tagPage counts the clusters of the page that is being met.
type tagPage struct {
	clusters map[taggedKeys]cluster
}

type taggedKeys struct {
	tally *tally
	tag   string
}

type cluster struct{ keys, without int64 }

func newTagPage() *tagPage { return &tagPage{clusters: map[taggedKeys]cluster{}} }

// add counts a key of a group.
func (p *tagPage) add(t *tally, name string, without bool) {
	tag, tagged := tagOf(name)
	if !tagged {
		t.tags.squares++
		return
	}
	at := taggedKeys{t, tag}
	c := p.clusters[at]
	c.keys++
	if without {
		c.without++
	}
	p.clusters[at] = c
}

// end adds the page's clusters to their groups' sums.
func (p *tagPage) end() {
	for at, c := range p.clusters {
		at.tally.tags.merge(tagSums{squares: c.keys * c.keys, mixed: c.without * (c.keys - c.without)})
	}
	clear(p.clusters)
}

// The design effect of hash tags: on a node with one dictionary a slot a page
// meets keys with the same tag together, and such keys often fare alike, so that
// a sample of them tells less than as many keys from anywhere.

package tally

import (
	"math"

	"keyhealth/collector/source"
)

// TagSums sum over the clusters of a group's keys. A cluster is the keys of one
// page with the same hash tag; a key without a tag is one by itself.
type TagSums struct {
	Squares int64 // of the clusters' sizes
	Mixed   int64 // in each cluster, keys without TTL times keys with one
}

func (s *TagSums) merge(from TagSums) {
	s.Squares += from.Squares
	s.Mixed += from.Mixed
}

// Effect is the design effect of a group of which keys were met, some without
// TTL: the variance of its share of keys without TTL, as a multiple of that of
// keys drawn one by one. At least 1, and 1 where no clusters were counted. The
// correlation within clusters is taken from the pairs of keys that differ; where
// no key differs from any other nothing shows it, and it counts as complete.
// (Kish, Survey Sampling, 1965, 5.4.)
func (s TagSums) Effect(keys, without int64) float64 {
	if s.Squares <= keys {
		return 1
	}
	n := float64(keys)
	correlation := 1.0
	if p := float64(without) / n; without > 0 && without < keys {
		differ := 2 * float64(s.Mixed) / (float64(s.Squares) - n)
		correlation = math.Max(0, math.Min(1, 1-differ/(2*p*(1-p))))
	}
	return math.Max(1, 1+correlation*(float64(s.Squares)/n-1))
}

// TagPage counts the clusters of the page that is being met.
type TagPage struct {
	clusters map[taggedKeys]cluster
}

type taggedKeys struct {
	group *Group
	tag   string
}

type cluster struct{ keys, without int64 }

// NewTagPage begins before the first page.
func NewTagPage() *TagPage { return &TagPage{clusters: map[taggedKeys]cluster{}} }

// Add counts a key of a group.
func (p *TagPage) Add(t *Group, name string, without bool) {
	tag, tagged := source.HashTag(name)
	if !tagged {
		t.Tags.Squares++
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

// End adds the page's clusters to their groups' sums.
func (p *TagPage) End() {
	for at, c := range p.clusters {
		at.group.Tags.merge(TagSums{Squares: c.keys * c.keys, Mixed: c.without * (c.keys - c.without)})
	}
	clear(p.clusters)
}

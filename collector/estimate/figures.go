// From the nodes' sweeps to what is published: the readings of each group are added
// up over the nodes.

package estimate

import (
	"cmp"
	"maps"
	"slices"

	"keyhealth/collector/classify"
	"keyhealth/collector/tally"
)

// gathered is a group with its readings from every node.
type gathered struct {
	Group
	strata     strata
	big        tally.BigKeys
	expectsTTL bool
	shown      bool
}

// Figures adds up what the nodes' sweeps found. A rule is present in every
// database that has keys and in 0, other groups only where they have some.
func Figures(nodes ...*Counted) (databases []Database, groups []Group) {
	of := map[int]*Database{}
	byName := map[pooled]*gathered{}
	var order []*gathered
	unmet := map[int]bool{}
	for _, node := range nodes {
		for _, d := range node.Databases {
			db := of[d.DB]
			if db == nil {
				db = &Database{DB: d.DB, Sized: true}
				of[d.DB] = db
			}
			db.add(node, d)
			unmet[d.DB] = unmet[d.DB] || d.Unmet()
			for _, t := range d.Groups {
				g := byName[pooled{d.DB, t.Name}]
				if g == nil {
					g = newGathered(d, t)
					byName[pooled{d.DB, t.Name}] = g
					order = append(order, g)
				}
				g.strata = append(g.strata, node.readings[t])
				g.big.Keys += t.Big.Keys
				g.big.LargestBytes = max(g.big.LargestBytes, t.Big.LargestBytes)
				g.shown = g.shown || node.shows(d, t)
			}
		}
	}
	if len(nodes) > 1 {
		order = withinRoom(order, byName, nodes[0].Room)
	}
	expected := map[int]strata{}
	for _, g := range order {
		g.fill(nodes)
		if g.shown {
			groups = append(groups, g.Group)
		}
		if g.expectsTTL {
			expected[g.DB] = append(expected[g.DB], g.strata...)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(of)) {
		db := of[number]
		db.Expected = Group{DB: number}
		if !unmet[number] {
			db.Expected = expected[number].together(number)
		}
		databases = append(databases, *db)
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(a.DB, b.DB) })
	return databases, groups
}

// ShareWithoutTTL bounds the share of a group's keys that have no TTL, whether
// they are zombies or not. No metric shows it: by it the repetition tests of package
// sweep measure the interval before confirmation widens it.
func ShareWithoutTTL(db int, group string, nodes ...*Counted) Interval {
	var s strata
	for _, node := range nodes {
		for _, d := range node.Databases {
			for _, t := range d.Groups {
				if d.DB == db && t.Name == group {
					s = append(s, node.readings[t])
				}
			}
		}
	}
	keys := s.sum(func(r *reading) float64 { return r.keys })
	return s.share(s.sum(func(r *reading) float64 { return r.without })/keys, keys)
}

// withinRoom folds the smallest discovered groups of several nodes into (other):
// each node has shown as many as there is room for, and they may differ.
func withinRoom(order []*gathered, byName map[pooled]*gathered, room int) []*gathered {
	size := func(g *gathered) float64 { return g.strata.sum(func(r *reading) float64 { return r.examined }) }
	var discovered []*gathered
	for _, g := range order {
		if g.Source == classify.SourceDiscovered {
			discovered = append(discovered, g)
		} else if g.shown || g.Source == classify.SourceOther {
			room--
		}
	}
	slices.SortStableFunc(discovered, func(a, b *gathered) int { return cmp.Compare(size(b), size(a)) })
	folded := map[*gathered]bool{}
	for _, g := range discovered[min(len(discovered), max(0, room)):] {
		other := byName[pooled{g.DB, classify.OtherGroup}]
		other.strata = append(other.strata, g.strata...)
		other.shown, folded[g] = true, true
	}
	return slices.DeleteFunc(order, func(g *gathered) bool { return folded[g] })
}

// together is a group of all strata that expect a TTL.
func (s strata) together(db int) Group {
	g := Group{DB: db}
	s.group(&g)
	g.Zombies = s.zombies(g.Keys, g.WithoutTTL)
	return g
}

// add counts a node's database by INFO: that of the primary, which is exact, or
// of the only node that was reached.
func (db *Database) add(node *Counted, d *tally.Database) {
	size := d.After
	if node.Primary != nil {
		sizes, sized := node.Primary.Keyspace()
		if size = sizes[d.DB]; !sized {
			size = d.After
		}
	}
	db.Sized = db.Sized && d.Sized
	db.Keys += size.Keys
	db.WithoutTTL += size.WithoutTTL()
}

// shows says whether a group is published: a rule where it may have keys, any
// other where it has some.
func (n *Counted) shows(d *tally.Database, t *tally.Group) bool {
	if t.Source == classify.SourceRule {
		return t.Examined() > 0 || !t.Unreadable() && !d.Unmet() && (d.DB == 0 || d.After.Keys > 0)
	}
	return n.readings[t].examined > 0
}

func newGathered(d *tally.Database, t *tally.Group) *gathered {
	g := &gathered{Group: Group{DB: d.DB, Name: t.Name, Source: t.Source, TTL: classify.Unknown}, expectsTTL: t.ExpectsTTL()}
	if t.Definition != nil {
		g.TTL, g.UniqueNames, g.Library = t.Definition.TTL, t.Definition.UniqueNames, t.Definition.Library
		g.Limited = t.Definition.Limit > 0
	}
	return g
}

// fill computes the group's figures from its readings.
func (g *gathered) fill(nodes []*Counted) {
	g.strata.group(&g.Group)
	if g.expectsTTL {
		g.Zombies = g.strata.zombies(g.Keys, g.WithoutTTL)
	}
	measured, searched := true, true
	for _, node := range nodes {
		measured, searched = measured && node.Measured, searched && node.Searched
	}
	if searched {
		g.Big = &g.big
	}
	if measured {
		g.Memory = g.strata.memory(g.expectsTTL, g.Zombies)
	}
}

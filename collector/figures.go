// From the nodes' sweeps to what is published: readings of rare groups are put
// together with earlier ones, and the nodes are added up.

package collector

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Counted is what a sweep of one node counted, and once it is settled what that
// comes to.
type Counted struct {
	Databases []*dbTally
	Primary   *Info     // of the primary, where a replica was swept; nil: it did not answer, or was swept itself
	Now       time.Time // the server's clock; zero: unknown
	Measured  bool      // sizes of keys were asked for, and answered
	Searched  bool      // big keys were looked for
	Room      int       // groups that may be shown

	readings map[*tally]*reading
}

// settle scales what was counted by a sweep that ended at a time. Groups with few
// sampled keys take their figures from the last samples too.
func (n *Counted) settle(pools *pools, counting *counting, at time.Time) {
	n.readings = map[*tally]*reading{}
	described := counting.classifier
	for _, d := range n.Databases {
		e := newEstimator(d)
		e.now, e.at = n.Now, at
		if d.walked {
			pools.forget(d.db)
		}
		met := func(number int) bool { return number < described.groups() || d.presets[number] != nil }
		for _, number := range pools.absent(d.db, met) {
			counting.tally(d, number)
		}
		shown := map[string]bool{}
		for _, t := range d.groups {
			latest := e.reading(t)
			shown[t.name] = true
			if !d.walked {
				number := -1
				if t.source != SourceDiscovered {
					number = slices.Index(described.definitions, t.definition)
				}
				latest = pools.add(pooled{d.db, t.name}, number, latest)
			}
			n.readings[t] = &latest
		}
		pools.drop(d.db, func(name string) bool { return shown[name] })
	}
}

// unreclaimed is the share of the node's keys that is expired garbage.
func (n *Counted) unreclaimed() (share float64, known bool) {
	keys := 0.0
	for _, d := range n.Databases {
		if garbage := unreclaimed(d); garbage != nil {
			keys += float64(d.after.Keys)
			share += *garbage * float64(d.after.Keys)
		}
	}
	return share / max(1, keys), keys > 0
}

// garbage is the share of each database's keys that is expired garbage, where
// that is known.
func (n *Counted) garbage() map[int]float64 {
	shares := map[int]float64{}
	for _, d := range n.Databases {
		if share := unreclaimed(d); share != nil {
			shares[d.db] = *share
		}
	}
	return shares
}

// keys is how many keys the node has, expired ones included.
func (n *Counted) keys() float64 {
	keys := 0.0
	for _, d := range n.Databases {
		keys += among(d)
	}
	return keys
}

// gathered is a group with its readings from every node.
type gathered struct {
	Group
	strata     strata
	big        BigKeys
	expectsTTL bool
	shown      bool
}

// figures adds up what the nodes' sweeps found. A rule is present in every
// database that has keys and in 0, other groups only where they have some.
func figures(nodes ...*Counted) (databases []Database, groups []Group) {
	of := map[int]*Database{}
	byName := map[pooled]*gathered{}
	var order []*gathered
	unmet := map[int]bool{}
	for _, node := range nodes {
		for _, d := range node.Databases {
			db := of[d.db]
			if db == nil {
				db = &Database{DB: d.db, Sized: true}
				of[d.db] = db
			}
			db.add(node, d)
			unmet[d.db] = unmet[d.db] || d.unmet()
			for _, t := range d.groups {
				g := byName[pooled{d.db, t.name}]
				if g == nil {
					g = newGathered(d, t)
					byName[pooled{d.db, t.name}] = g
					order = append(order, g)
				}
				g.strata = append(g.strata, node.readings[t])
				g.big.Keys += t.big.Keys
				g.big.LargestBytes = max(g.big.LargestBytes, t.big.LargestBytes)
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

// shareWithoutTTL bounds the share of a group's keys that have no TTL, whether
// they are zombies or not.
func shareWithoutTTL(db int, group string, nodes ...*Counted) Interval {
	var s strata
	for _, node := range nodes {
		for _, d := range node.Databases {
			for _, t := range d.groups {
				if d.db == db && t.name == group {
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
		if g.Source == SourceDiscovered {
			discovered = append(discovered, g)
		} else if g.shown || g.Source == SourceOther {
			room--
		}
	}
	slices.SortStableFunc(discovered, func(a, b *gathered) int { return cmp.Compare(size(b), size(a)) })
	folded := map[*gathered]bool{}
	for _, g := range discovered[min(len(discovered), max(0, room)):] {
		other := byName[pooled{g.DB, OtherGroup}]
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
func (db *Database) add(node *Counted, d *dbTally) {
	size := d.after
	if node.Primary != nil {
		sizes, sized := node.Primary.Keyspace()
		if size = sizes[d.db]; !sized {
			size = d.after
		}
	}
	db.Sized = db.Sized && d.sized
	db.Keys += size.Keys
	db.WithoutTTL += size.WithoutTTL()
}

// shows says whether a group is published: a rule where it may have keys, any
// other where it has some.
func (n *Counted) shows(d *dbTally, t *tally) bool {
	if t.source == SourceRule {
		return t.examined() > 0 || !t.unreadable() && !d.unmet() && (d.db == 0 || d.after.Keys > 0)
	}
	return n.readings[t].examined > 0
}

func newGathered(d *dbTally, t *tally) *gathered {
	g := &gathered{Group: Group{DB: d.db, Name: t.name, Source: t.source, TTL: Unknown}, expectsTTL: t.expectsTTL()}
	if t.definition != nil {
		g.TTL, g.UniqueNames, g.Library = t.definition.ttl, t.definition.uniqueNames, t.definition.library
		g.Limited = t.definition.limit > 0
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

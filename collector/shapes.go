package collector

import (
	"cmp"
	"maps"
	"slices"
)

// looseSamples is how many names are kept for the sizes of discovered groups,
// as a multiple of a group's samples: which group a name belongs to is known
// only when all shapes are.
const looseSamples = 50

// shownBonus is what a discovered group that was shown last time counts more
// than a new one, so that two of nearly the same size do not change places.
const shownBonus = 1.25

// shapes is what discovery remembers from sweep to sweep.
type shapes struct {
	words map[int]map[string]bool // beginnings that were shown, by database
	shown map[shape]bool          // groups that were shown
}

// shape is a discovered group in a database.
type shape struct {
	db   int
	name string
}

// discover turns the trees into groups and folds those into (other) that are
// too many to be shown; it answers how many.
func (s *session) discover(databases []*dbTally) (folded int) {
	room := s.target.MaxGroups
	found := map[shape]*tally{}
	for _, d := range databases {
		if d.db == 0 || d.after.Keys > 0 {
			room -= len(s.target.Rules) + len(d.presets)
		}
		if d.tree == nil {
			continue
		}
		s.shapes.words[d.db] = d.tree.settle()
		for name, t := range d.tree.groups() {
			found[shape{d.db, name}] = t
		}
	}
	kept := map[shape]bool{}
	for _, sh := range s.largest(found, max(0, room)) {
		kept[sh] = true
	}
	s.shapes.shown = kept
	for _, d := range databases {
		other := d.groups[len(s.target.Rules)]
		for _, sh := range slices.SortedFunc(maps.Keys(found), func(a, b shape) int { return cmp.Compare(a.name, b.name) }) {
			switch {
			case sh.db != d.db:
			case kept[sh]:
				s.adopt(d, found[sh])
			default:
				other.merge(found[sh])
				folded++
			}
		}
		s.assignNames(d)
	}
	return folded
}

// largest are the n shapes with the most keys.
func (s *session) largest(found map[shape]*tally, n int) []shape {
	weight := func(sh shape) float64 {
		keys := float64(found[sh].examined())
		if s.shapes.shown[sh] {
			keys *= shownBonus
		}
		return keys
	}
	all := slices.SortedFunc(maps.Keys(found), func(a, b shape) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.db, b.db), cmp.Compare(a.name, b.name))
	})
	return all[:min(n, len(all))]
}

// adopt makes a discovered shape a group of its database, under a name that no
// rule or preset has.
func (s *session) adopt(d *dbTally, t *tally) {
	if slices.ContainsFunc(s.classifier.definitions, func(known *definition) bool { return known != nil && known.name == t.name }) {
		t.name += " (discovered)"
	}
	t.memWith, t.memWithout = &draw{}, &draw{}
	d.groups = append(d.groups, t)
}

// assignNames gives the names that were kept for sizes to their groups.
func (s *session) assignNames(d *dbTally) {
	if d.loose == nil {
		return
	}
	for _, k := range d.loose.keys {
		t := s.home(d, k.name, "")
		into := t.memWith
		if k.without {
			into = t.memWithout
		}
		into.keys = append(into.keys, k)
	}
}

// home is the group that a key's name belongs to, once all groups are known.
func (s *session) home(d *dbTally, name, keyType string) *tally {
	t := s.counting.tally(d, s.classifier.group(name, keyType))
	if t.definition != nil || d.tree == nil {
		return t
	}
	if found, path := d.tree.find(name); found != nil && s.shapes.shown[shape{d.db, path}] {
		return found
	}
	return t
}

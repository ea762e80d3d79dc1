// The end of discovery in a sweep: which of the shapes found become groups, which
// are folded into (other), and what is remembered of them. How names become shapes
// is classify/shape.go, the tree that counts them tally/discover.go.

package sweep

import (
	"cmp"
	"maps"
	"slices"

	"keyhealth/collector/classify"
	"keyhealth/collector/tally"
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
func (s *session) discover(databases []*tally.Database) (folded int) {
	room := s.target.MaxGroups
	found := map[shape]*tally.Group{}
	for _, d := range databases {
		if d.DB == 0 || d.After.Keys > 0 {
			room -= len(s.target.Rules) + len(d.Presets)
		}
		if d.Tree == nil {
			continue
		}
		s.shapes.words[d.DB] = d.Tree.Settle()
		for name, t := range d.Tree.Groups() {
			found[shape{d.DB, name}] = t
		}
	}
	kept := map[shape]bool{}
	for _, sh := range s.largest(found, max(0, room)) {
		kept[sh] = true
	}
	s.shapes.shown = kept
	for _, d := range databases {
		other := d.Groups[len(s.target.Rules)]
		for _, sh := range slices.SortedFunc(maps.Keys(found), func(a, b shape) int { return cmp.Compare(a.name, b.name) }) {
			switch {
			case sh.db != d.DB:
			case kept[sh]:
				s.adopt(d, found[sh])
			default:
				other.Merge(found[sh])
				folded++
			}
		}
		s.assignNames(d)
	}
	return folded
}

// largest are the n shapes with the most keys.
func (s *session) largest(found map[shape]*tally.Group, n int) []shape {
	weight := func(sh shape) float64 {
		keys := float64(found[sh].Examined())
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
func (s *session) adopt(d *tally.Database, t *tally.Group) {
	if slices.ContainsFunc(s.classifier.Definitions, func(known *classify.Definition) bool { return known != nil && known.Name == t.Name }) {
		t.Name += " (discovered)"
	}
	t.MemWith, t.MemWithout = &tally.Draw{}, &tally.Draw{}
	d.Groups = append(d.Groups, t)
}

// assignNames gives the names that were kept for sizes to their groups.
func (s *session) assignNames(d *tally.Database) {
	if d.Loose == nil {
		return
	}
	for _, k := range d.Loose.Keys {
		t := s.home(d, k.Name, "")
		into := t.MemWith
		if k.Without {
			into = t.MemWithout
		}
		into.Keys = append(into.Keys, k)
	}
}

// home is the group that a key's name belongs to, once all groups are known.
func (s *session) home(d *tally.Database, name, keyType string) *tally.Group {
	t := s.counting.Group(d, s.classifier.Group(name, keyType))
	if t.Definition != nil || d.Tree == nil {
		return t
	}
	if found, path := d.Tree.Find(name); found != nil && s.shapes.shown[shape{d.DB, path}] {
		return found
	}
	return t
}

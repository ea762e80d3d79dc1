// Groups that nobody has described, found by the shapes of many names: a tree
// of segments, whose rare and varying ones are folded into * at a sweep's end.
// Its size is bounded whatever the keys are called.

package collector

import "strings"

// Which words are shown. A word that was shown stays until it has half as many
// keys as it needed, so that a sample's chance does not make it come and go.
const (
	fewestUnderWord = 20      // examined keys under a segment that is shown
	fewWords        = 50      // a place with more different words than this varies
	commonWord      = 1 / 50. // of a varying place's keys: words above it are still shown in the first segment
	maxSegments     = 5000    // segments a database's tree holds
)

// segmentTree counts keys by the shape of their names.
type segmentTree struct {
	shaper *shaper
	shown  map[string]bool // shapes' beginnings that the last sweep showed
	root   *segmentNode
	size   int
	parts  []part // reused
}

// segmentNode is a beginning of shapes. words counts the different words that
// were ever met below it, those that were folded meanwhile included.
type segmentNode struct {
	part     part
	path     string // the beginning as it would be shown
	keys     int64
	words    int
	children map[part]*segmentNode
	tally    tally // of the keys whose shape ends here
}

func newSegmentTree(shaper *shaper, shown map[string]bool) *segmentTree {
	return &segmentTree{shaper: shaper, shown: shown, root: &segmentNode{children: map[part]*segmentNode{}}}
}

// at is the node where the name's shape ends; it counts the key on the way.
func (t *segmentTree) at(name string) *segmentNode {
	node := t.root
	t.parts = t.shaper.shape(name, t.parts[:0])
	if t.size+len(t.parts) > maxSegments {
		t.prune()
	}
	for _, p := range t.parts {
		node.keys++
		child := node.children[p]
		if child == nil {
			child = t.grow(node, p)
		}
		node = child
	}
	node.keys++
	return node
}

// find is the group that a name's keys are in once the tree is settled, and its
// shape; nil for a shape it has no keys of.
func (t *segmentTree) find(name string) (found *tally, shape string) {
	node := t.root
	t.parts = t.shaper.shape(name, t.parts[:0])
	for _, p := range t.parts {
		child := node.children[p]
		if child == nil {
			child = node.children[part{id: true, sep: p.sep}]
		}
		if child == nil {
			return nil, ""
		}
		node = child
	}
	return &node.tally, node.path
}

// grow adds a child with a copy of the part's text: the names are not kept.
func (t *segmentTree) grow(node *segmentNode, p part) *segmentNode {
	p.text = strings.Clone(p.text)
	if p.text != "" {
		node.words++
	}
	child := &segmentNode{part: p, path: node.path + p.String(), children: map[part]*segmentNode{}}
	node.children[p] = child
	t.size++
	return child
}

// prune makes room: it folds the rarest words, those that were not shown last
// time first, until half of the tree is free.
func (t *segmentTree) prune() {
	for fewest := int64(2); t.size > maxSegments/2; fewest *= 2 {
		t.fold(t.root, func(_, child *segmentNode) bool {
			return child.keys >= fewest || t.shown[child.path] && fewest <= fewestUnderWord
		})
	}
}

// settle folds what must not be shown and answers the beginnings that remain.
func (t *segmentTree) settle() (shown map[string]bool) {
	t.fold(t.root, func(parent, child *segmentNode) bool {
		needed := int64(fewestUnderWord)
		if t.shown[child.path] {
			needed /= 2
		}
		switch {
		case t.shaper.allows(child.part.text):
			return true
		case child.keys < needed:
			return false
		case parent.words > fewWords:
			return parent == t.root && float64(child.keys) >= commonWord*float64(parent.keys)
		}
		return true
	})
	shown = map[string]bool{}
	t.root.each(func(n *segmentNode) { shown[n.path] = true })
	return shown
}

// fold merges the children with words that are not kept into the child that is
// an id, from the top down: what lies below them is judged in its new place.
func (t *segmentTree) fold(node *segmentNode, keep func(parent, child *segmentNode) bool) {
	for p, child := range node.children {
		if p.text == "" || keep(node, child) {
			continue
		}
		delete(node.children, p)
		t.size--
		id := part{id: true, sep: p.sep}
		into := node.children[id]
		if into == nil {
			into = t.grow(node, id)
		}
		t.merge(into, child)
	}
	for _, child := range node.children {
		t.fold(child, keep)
	}
}

// merge adds a node's counts and children to another's.
func (t *segmentTree) merge(into, from *segmentNode) {
	into.keys += from.keys
	into.tally.merge(&from.tally)
	for p, child := range from.children {
		t.size--
		existing := into.children[p]
		if existing == nil {
			existing = t.grow(into, p)
		}
		t.merge(existing, child)
	}
}

func (n *segmentNode) each(f func(*segmentNode)) {
	for _, child := range n.children {
		f(child)
		child.each(f)
	}
}

// groups are the tallies of the shapes that have keys, by name.
func (t *segmentTree) groups() map[string]*tally {
	found := map[string]*tally{}
	t.root.each(func(n *segmentNode) {
		if n.tally.examined() > 0 {
			n.tally.name, n.tally.source = n.path, SourceDiscovered
			found[n.path] = &n.tally
		}
	})
	return found
}

// Groups that nobody has described, found by the shapes of many names: a tree
// of segments, whose rare and varying ones are folded into * at a sweep's end.
// Its size is bounded whatever the keys are called.

package tally

import (
	"strings"

	"keyhealth/collector/classify"
)

// Which words are shown. A word that was shown stays until it has half as many
// keys as it needed, so that a sample's chance does not make it come and go.
const (
	fewestUnderWord = 20      // examined keys under a segment that is shown
	fewWords        = 50      // a place with more different words than this varies
	commonWord      = 1 / 50. // of a varying place's keys: words above it are still shown in the first segment
	maxSegments     = 5000    // segments a database's tree holds
)

// Tree counts keys by the shape of their names.
type Tree struct {
	shaper *classify.Shaper
	shown  map[string]bool // shapes' beginnings that the last sweep showed
	root   *segmentNode
	size   int
	parts  []classify.Part // reused
}

// segmentNode is a beginning of shapes. words counts the different words that
// were ever met below it, those that were folded meanwhile included.
type segmentNode struct {
	part     classify.Part
	path     string // the beginning as it would be shown
	keys     int64
	words    int
	children map[classify.Part]*segmentNode
	group    Group // of the keys whose shape ends here
}

// NewTree is an empty tree; shown are the beginnings that the last sweep showed.
func NewTree(shaper *classify.Shaper, shown map[string]bool) *Tree {
	return &Tree{shaper: shaper, shown: shown, root: &segmentNode{children: map[classify.Part]*segmentNode{}}}
}

// at is the node where the name's shape ends; it counts the key on the way.
func (t *Tree) at(name string) *segmentNode {
	node := t.root
	t.parts = t.shaper.Shape(name, t.parts[:0])
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

// Find is the group that a name's keys are in once the tree is settled, and its
// shape; nil for a shape it has no keys of.
func (t *Tree) Find(name string) (found *Group, shape string) {
	node := t.root
	t.parts = t.shaper.Shape(name, t.parts[:0])
	for _, p := range t.parts {
		child := node.children[p]
		if child == nil {
			child = node.children[classify.Part{ID: true, Sep: p.Sep}]
		}
		if child == nil {
			return nil, ""
		}
		node = child
	}
	return &node.group, node.path
}

// grow adds a child with a copy of the part's text: the names are not kept.
func (t *Tree) grow(node *segmentNode, p classify.Part) *segmentNode {
	p.Text = strings.Clone(p.Text)
	if p.Text != "" {
		node.words++
	}
	child := &segmentNode{part: p, path: node.path + p.String(), children: map[classify.Part]*segmentNode{}}
	node.children[p] = child
	t.size++
	return child
}

// prune makes room: it folds the rarest words, those that were not shown last
// time first, until half of the tree is free.
func (t *Tree) prune() {
	for fewest := int64(2); t.size > maxSegments/2; fewest *= 2 {
		t.fold(t.root, func(_, child *segmentNode) bool {
			return child.keys >= fewest || t.shown[child.path] && fewest <= fewestUnderWord
		})
	}
}

// Settle folds what must not be shown and answers the beginnings that remain.
func (t *Tree) Settle() (shown map[string]bool) {
	t.fold(t.root, func(parent, child *segmentNode) bool {
		needed := int64(fewestUnderWord)
		if t.shown[child.path] {
			needed /= 2
		}
		switch {
		case t.shaper.Allows(child.part.Text):
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
func (t *Tree) fold(node *segmentNode, keep func(parent, child *segmentNode) bool) {
	for p, child := range node.children {
		if p.Text == "" || keep(node, child) {
			continue
		}
		delete(node.children, p)
		t.size--
		id := classify.Part{ID: true, Sep: p.Sep}
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
func (t *Tree) merge(into, from *segmentNode) {
	into.keys += from.keys
	into.group.Merge(&from.group)
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

// Groups are the shapes that have keys, by name.
func (t *Tree) Groups() map[string]*Group {
	found := map[string]*Group{}
	t.root.each(func(n *segmentNode) {
		if n.group.Examined() > 0 {
			n.group.Name, n.group.Source = n.path, classify.SourceDiscovered
			found[n.path] = &n.group
		}
	})
	return found
}

// Which group a key belongs to, by its name and where presets clash by its type.
// Rules come before presets, in their order; of presets the longest literal wins.

package classify

import (
	"cmp"
	"slices"
	"strings"
)

// Classifier finds the group of a key. The groups are numbered: the rules, then
// the keys that nothing describes, then the presets.
type Classifier struct {
	Definitions []*Definition // nil: the keys that nothing describes
	undescribed int           // their group
	patterns    []groupPattern
	index       patternIndex
}

// groupPattern is one glob of a group. Its index is its rank.
type groupPattern struct {
	end     byte // what the name must end with; 0: with anything
	glob    glob
	group   int
	keyType string // the key must be of this type; empty: of any
}

func newGroupPattern(pattern string, group int, keyType string) groupPattern {
	p := groupPattern{glob: compileGlob(pattern), group: group, keyType: keyType}
	if tail := p.glob.tail; tail.literal != "" && len(tail.tokens) == 0 {
		p.end = tail.literal[len(tail.literal)-1]
	}
	return p
}

// New is the classifier of some rules and presets.
func New(rules []Rule, presets []Preset) *Classifier {
	c := &Classifier{undescribed: len(rules)}
	names := map[string]bool{}
	for i := range rules {
		c.Definitions = append(c.Definitions, rules[i].definition())
		names[rules[i].Name] = true
		for _, pattern := range rules[i].Match {
			c.patterns = append(c.patterns, newGroupPattern(pattern, i, ""))
		}
	}
	c.Definitions = append(c.Definitions, nil)
	var ranked []groupPattern
	for i := range presets {
		d := presets[i].definition()
		if names[d.Name] {
			d.Name += " (preset)"
		}
		for _, pattern := range presets[i].Match {
			ranked = append(ranked, newGroupPattern(pattern, len(c.Definitions), presets[i].Type))
		}
		c.Definitions = append(c.Definitions, d)
	}
	slices.SortStableFunc(ranked, func(a, b groupPattern) int { return cmp.Compare(b.glob.literals, a.glob.literals) })
	c.patterns = append(c.patterns, ranked...)
	for rank := range c.patterns {
		c.index.add(&c.patterns[rank], rank)
	}
	return c
}

// Groups is the number of groups that are always there: the rules, and the keys
// that nothing describes.
func (c *Classifier) Groups() int { return c.undescribed + 1 }

// Find is the number of the group that a name belongs to. Where typed is true it
// depends on the key's type too: see Group.
func (c *Classifier) Find(name string) (number int, typed bool) {
	rank := c.first(name, anyType)
	if rank < 0 {
		return c.undescribed, false
	}
	return c.patterns[rank].group, c.patterns[rank].keyType != ""
}

// Group is the number of the group of a key of a type. An empty type is no group's
// that asks for one.
func (c *Classifier) Group(name, keyType string) int {
	rank := c.first(name, keyType)
	if rank < 0 {
		return c.undescribed
	}
	return c.patterns[rank].group
}

// anyType stands for a type that fits every pattern.
const anyType = "*"

// first is the lowest rank whose pattern matches the name and its type, -1 if
// there is none.
func (c *Classifier) first(name, keyType string) int {
	rank := len(c.patterns)
	if name != "" {
		rank = c.firstOf(c.index.endings[name[len(name)-1]], name, keyType, rank)
	}
	node, rest := &c.index.root, name
	for node != nil {
		rank = c.firstOf(node.ranks, rest, keyType, rank)
		node, rest = node.next(rest)
	}
	if rank == len(c.patterns) {
		return -1
	}
	return rank
}

// firstOf is the first of some ranks, below another, whose pattern matches.
func (c *Classifier) firstOf(ranks []int, rest, keyType string, below int) int {
	for _, rank := range ranks {
		if rank >= below {
			break
		}
		p := &c.patterns[rank]
		if p.end != 0 && (rest == "" || rest[len(rest)-1] != p.end) {
			continue
		}
		if (p.keyType == "" || keyType == anyType || p.keyType == keyType) && p.glob.matchAfterPrefix(rest) {
			return rank
		}
	}
	return below
}

// patternIndex finds the patterns that a name may match: those that begin as it
// does, and of those that begin with a star those that end as it does.
type patternIndex struct {
	root    prefixNode
	endings [256][]int // ranks, by the last byte
}

// add puts a pattern in, whose rank is higher than all before.
func (i *patternIndex) add(p *groupPattern, rank int) {
	if p.glob.prefix == "" && p.end != 0 {
		i.endings[p.end] = append(i.endings[p.end], rank)
		return
	}
	i.root.add(p.glob.prefix, rank)
}

// prefixNode is a node of a radix tree over the literal beginnings of the
// patterns: only those whose beginning a name has are compared with it.
type prefixNode struct {
	edge     string // the bytes that lead here
	ranks    []int  // patterns whose beginning ends here, ascending
	children []*prefixNode
	firsts   string // the first bytes of their edges
}

// next is the child that the rest of a name leads to, and what is left then.
func (n *prefixNode) next(rest string) (*prefixNode, string) {
	if rest == "" {
		return nil, ""
	}
	at := strings.IndexByte(n.firsts, rest[0])
	if at < 0 || !strings.HasPrefix(rest, n.children[at].edge) {
		return nil, ""
	}
	return n.children[at], rest[len(n.children[at].edge):]
}

// add puts a rank, higher than all before, at the end of a beginning.
func (n *prefixNode) add(prefix string, rank int) {
	if prefix == "" {
		n.ranks = append(n.ranks, rank)
		return
	}
	for i, child := range n.children {
		common := commonPrefix(prefix, child.edge)
		if common == 0 {
			continue
		}
		if common < len(child.edge) {
			split := &prefixNode{edge: child.edge[:common], children: []*prefixNode{child}, firsts: child.edge[common : common+1]}
			child.edge = child.edge[common:]
			n.children[i], child = split, split
		}
		child.add(prefix[common:], rank)
		return
	}
	n.children = append(n.children, &prefixNode{edge: prefix, ranks: []int{rank}})
	n.firsts += prefix[:1]
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

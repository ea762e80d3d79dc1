// Which group a key belongs to, by its name and where presets clash by its type.
// Rules come before presets, in their order; of presets the longest literal wins.

package collector

import (
	"cmp"
	"slices"
	"strings"
)

// classifier finds the group of a key. The groups are numbered: the rules, then
// the keys that nothing describes, then the presets.
type classifier struct {
	definitions []*definition // nil: the keys that nothing describes
	undescribed int           // their group
	patterns    []groupPattern
	root        prefixNode
	typed       bool // some pattern needs the key's type
}

// groupPattern is one glob of a group. Its index is its rank.
type groupPattern struct {
	glob    glob
	group   int
	keyType string // the key must be of this type; empty: of any
}

func newClassifier(rules []Rule, presets []Preset) *classifier {
	c := &classifier{undescribed: len(rules)}
	names := map[string]bool{}
	for i := range rules {
		c.definitions = append(c.definitions, rules[i].definition())
		names[rules[i].Name] = true
		for _, pattern := range rules[i].Match {
			c.patterns = append(c.patterns, groupPattern{glob: compileGlob(pattern), group: i})
		}
	}
	c.definitions = append(c.definitions, nil)
	var ranked []groupPattern
	for i := range presets {
		d := presets[i].definition()
		if names[d.name] {
			d.name += " (preset)"
		}
		for _, pattern := range presets[i].Match {
			ranked = append(ranked, groupPattern{compileGlob(pattern), len(c.definitions), presets[i].Type})
			c.typed = c.typed || presets[i].Type != ""
		}
		c.definitions = append(c.definitions, d)
	}
	slices.SortStableFunc(ranked, func(a, b groupPattern) int { return cmp.Compare(b.glob.literals, a.glob.literals) })
	c.patterns = append(c.patterns, ranked...)
	for rank := range c.patterns {
		c.root.add(c.patterns[rank].glob.prefix, rank)
	}
	return c
}

// groups is the number of groups that are always there: the rules, and the keys
// that nothing describes.
func (c *classifier) groups() int { return c.undescribed + 1 }

// group is the number of the key's group. The type matters only where
// wantsType says so; an empty one is no group's that asks for a type.
func (c *classifier) group(name, keyType string) int {
	if rank, ok := c.first(name, func(p *groupPattern) bool { return p.keyType == "" || p.keyType == keyType }); ok {
		return c.patterns[rank].group
	}
	return c.undescribed
}

// wantsType says whether the key's group depends on its type.
func (c *classifier) wantsType(name string) bool {
	if !c.typed {
		return false
	}
	rank, ok := c.first(name, func(*groupPattern) bool { return true })
	return ok && c.patterns[rank].keyType != ""
}

// first is the lowest rank of the patterns that match the name and are fit.
func (c *classifier) first(name string, fit func(*groupPattern) bool) (rank int, found bool) {
	rank = len(c.patterns)
	node, rest := &c.root, name
	for node != nil {
		for _, candidate := range node.ranks {
			if candidate >= rank {
				break
			}
			if p := &c.patterns[candidate]; fit(p) && p.glob.matchAfterPrefix(rest) {
				rank = candidate
				break
			}
		}
		node, rest = node.next(rest)
	}
	return rank, rank < len(c.patterns)
}

// prefixNode is a node of a radix tree over the literal beginnings of the
// patterns: only those whose beginning a name has are compared with it.
type prefixNode struct {
	edge     string // the bytes that lead here
	ranks    []int  // patterns whose beginning ends here, ascending
	children []*prefixNode
}

// next is the child that the rest of a name leads to, and what is left then.
func (n *prefixNode) next(rest string) (*prefixNode, string) {
	for _, child := range n.children {
		if strings.HasPrefix(rest, child.edge) {
			return child, rest[len(child.edge):]
		}
	}
	return nil, ""
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
			split := &prefixNode{edge: child.edge[:common], children: []*prefixNode{child}}
			child.edge = child.edge[common:]
			n.children[i], child = split, split
		}
		child.add(prefix[common:], rank)
		return
	}
	n.children = append(n.children, &prefixNode{edge: prefix, ranks: []int{rank}})
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

package collector

// classifier finds the group of a key by its name. The first rule that matches
// wins; what no rule takes belongs to the last group.
type classifier struct {
	rules    []Rule
	patterns []rulePattern
}

type rulePattern struct {
	glob glob
	rule int
}

func newClassifier(rules []Rule) *classifier {
	c := &classifier{rules: rules}
	for i := range rules {
		for _, pattern := range rules[i].Match {
			c.patterns = append(c.patterns, rulePattern{compileGlob(pattern), i})
		}
	}
	return c
}

// groups is the number of groups, the last one included.
func (c *classifier) groups() int { return len(c.rules) + 1 }

// group is the index of the name's group.
func (c *classifier) group(name string) int {
	for i := range c.patterns {
		if c.patterns[i].glob.match(name) {
			return c.patterns[i].rule
		}
	}
	return len(c.rules)
}

// rule is the rule of a group, nil for the last one.
func (c *classifier) rule(group int) *Rule {
	if group == len(c.rules) {
		return nil
	}
	return &c.rules[group]
}

// The user's rules: which keys belong together and what TTL they should have.
// Matching a key to its rule is classify.go.

package classify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Expectation says whether the keys of a group should have a TTL.
type Expectation string

// The expectations a rule can state. Only Expected groups have zombies.
const (
	Expected   Expectation = "expected"   // a key without TTL is a fault
	Persistent Expectation = "persistent" // keys are meant to stay
	Unknown    Expectation = "unknown"    // nobody has said
)

// Direction says which way the state of a limiter's key moves.
type Direction string

// A counter that goes up locks its caller out at the limit, one that goes down
// at or below 0.
const (
	Up   Direction = "up"
	Down Direction = "down"
)

// DefaultMaxTTL is the bound of a group that states neither window nor max TTL.
const DefaultMaxTTL = 366 * 24 * time.Hour

// maxGroupName bounds the bytes of a label value.
const maxGroupName = 200

// Rule describes one group of keys. The zero values are the defaults.
type Rule struct {
	Name         string      `yaml:"name"`
	Match        Globs       `yaml:"match"`          // Redis globs; one is enough to match
	TTL          Expectation `yaml:"ttl"`            // default Expected
	Window       Duration    `yaml:"window"`         // max TTL = window x MaxTTLFactor
	MaxTTLFactor float64     `yaml:"max_ttl_factor"` // default 2
	MaxTTL       Duration    `yaml:"max_ttl"`        // or said outright
	Limit        int64       `yaml:"limit"`          // calls a window
	Lockout      *bool       `yaml:"lockout"`        // a zombie locks its caller out; default: where Limit is set
	Counts       Direction   `yaml:"counts"`         // default Up
	UniqueNames  bool        `yaml:"unique_names"`   // names made fresh per request are meant here
}

// Globs is one Redis glob or a list of them.
type Globs []string

// UnmarshalYAML reads "match: a*" and "match: [a*, b*]" alike.
func (g *Globs) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*g = Globs{node.Value}
		return nil
	}
	return node.Decode((*[]string)(g))
}

// maxTTL is the TTL above which a key of the group is excessive, and whether
// the rule said so itself.
func (r *Rule) maxTTL() (bound time.Duration, stated bool) {
	switch {
	case r.MaxTTL > 0:
		return time.Duration(r.MaxTTL), true
	case r.Window > 0:
		factor := r.MaxTTLFactor
		if factor == 0 {
			factor = 2
		}
		// A window of centuries: the product must not wrap to a negative bound.
		return time.Duration(min(float64(r.Window)*factor, 1<<62)), true
	}
	return DefaultMaxTTL, false
}

func (r *Rule) locksOut() bool {
	if r.Lockout != nil {
		return *r.Lockout
	}
	return r.Limit > 0
}

func (r *Rule) expectation() Expectation {
	if r.TTL == "" {
		return Expected
	}
	return r.TTL
}

// WithDefaults is the rule with every default filled in: what is in force, to
// be shown. MaxTTLFactor has done its work in MaxTTL.
func (r Rule) WithDefaults() Rule {
	maxTTL, _ := r.maxTTL()
	lockout := r.locksOut()
	r.TTL, r.MaxTTL, r.Lockout = r.expectation(), Duration(maxTTL), &lockout
	if r.Counts == "" {
		r.Counts = Up
	}
	return r
}

// ErrTwice is of two rules with one name. The quick form has no lists of globs:
// whoever reads it says where they can be given.
var ErrTwice = errors.New("is described twice: give one rule a list of globs instead")

// ValidateRules says what is wrong with a list of rules, naming the rule.
func ValidateRules(rules []Rule) error {
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		if r.Name == "" {
			return fmt.Errorf("group %d has no name: add \"name: ...\"", i+1)
		}
		if err := r.validate(); err != nil {
			return fmt.Errorf("group %q: %w", r.Name, err)
		}
		if seen[r.Name] {
			return fmt.Errorf("group %q %w", r.Name, ErrTwice)
		}
		seen[r.Name] = true
	}
	return nil
}

func (r *Rule) validate() error {
	if strings.HasPrefix(r.Name, "(") {
		return errors.New("a name must not begin with \"(\": those names are keyhealth's own")
	}
	if strings.HasSuffix(r.Name, " (discovered)") || strings.HasSuffix(r.Name, " (preset)") {
		return errors.New("a name must not end in \" (discovered)\" or \" (preset)\": those names are keyhealth's own")
	}
	if !utf8.ValidString(r.Name) || len(r.Name) > maxGroupName {
		return fmt.Errorf("a name must be valid UTF-8 and at most %d bytes long: it is a label value", maxGroupName)
	}
	if len(r.Match) == 0 || slices.Contains(r.Match, "") {
		return errors.New("match is empty: write a Redis glob such as \"rate_limit:*\"")
	}
	if !slices.Contains([]Expectation{Expected, Persistent, Unknown}, r.expectation()) {
		return errors.New("ttl must be expected, persistent or unknown")
	}
	if r.Counts != "" && r.Counts != Up && r.Counts != Down {
		return errors.New("counts must be up or down")
	}
	if r.Limit < 0 {
		return errors.New("limit must be above 0")
	}
	if r.Window > 0 && r.MaxTTL > 0 {
		return errors.New("give window or max_ttl, not both: each of them sets the longest TTL")
	}
	if r.MaxTTLFactor != 0 && (r.Window == 0 || !(r.MaxTTLFactor >= 1 && r.MaxTTLFactor <= 1000)) {
		return errors.New("max_ttl_factor must be from 1 to 1000 and needs a window")
	}
	if r.expectation() == Persistent && (r.Window > 0 || r.MaxTTL > 0 || r.locksOut()) {
		return errors.New("a persistent group has no window, max_ttl, limit or lockout")
	}
	return nil
}

// ParseGroups reads the quick form of rules, "[name=]glob[@window or
// @persistent]", separated by commas. Without a name the glob is the name.
func ParseGroups(s string) ([]Rule, error) {
	var rules []Rule
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		rule, err := parseGroup(item)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, ValidateRules(rules)
}

func parseGroup(item string) (Rule, error) {
	rule := Rule{}
	glob := item
	if at := strings.LastIndexByte(item, '@'); at >= 0 {
		glob = item[:at]
		if suffix := item[at+1:]; suffix == string(Persistent) {
			rule.TTL = Persistent
		} else if window, err := ParseDuration(suffix); err != nil || window == 0 {
			return rule, fmt.Errorf("group %q: what follows @ must be a window such as 60s, or persistent", item)
		} else {
			rule.Window = Duration(window)
		}
	}
	rule.Name = glob
	if name, rest, named := strings.Cut(glob, "="); named {
		rule.Name, glob = name, rest
	}
	rule.Match = Globs{glob}
	return rule, nil
}

// The YAML file. Its keys are known one by one, so that a problem names the
// line and the key at fault; what a group may say is the collector's business.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"keyhealth/collector/classify"
)

// fileKey describes a key of a group, for error lines and the documentation.
type fileKey struct {
	name    string
	kind    string // completes "must be"
	initial string // the default; empty: none
	meaning string
}

const wholeNumber = "a whole number"

func groupKeys() []fileKey {
	return []fileKey{
		{"name", "a text", "", "Value of the label `group`; required, different in every group, and not beginning with `(`."},
		{"match", "a Redis glob, or a list of them", "", "Redis glob, or a list of them, that the names of the group's keys match; required."},
		{"ttl", "expected, persistent or unknown", "expected", "`expected`: a key without TTL is a fault. `persistent`: keys are meant to stay. `unknown`: nobody has said."},
		{"window", "a duration such as 60s", "", "Window of the limiter; the max TTL is `window` x `max_ttl_factor`."},
		{"max_ttl_factor", "a number", "2", "From 1 to 1000; needs a `window`."},
		{"max_ttl", "a duration such as 2m", "366d", "A TTL above it is excessive. Not together with `window`."},
		{"limit", wholeNumber, "", "Calls a window. A group that has one is a limiter, whose zombies lock callers out."},
		{"lockout", "true or false", "true where `limit` is set, else false", "A zombie locks its caller out."},
		{"counts", "up or down", "up", "Which way the state moves; a caller is locked out at the limit (`up`), or at or below 0 (`down`)."},
		{"unique_names", "true or false", "false", "Names made fresh per request are meant here, such as a cache by hash."},
	}
}

func discoveryKeys() []fileKey {
	return []fileKey{
		{"enabled", "true or false", "true", "Groups what no rule takes by the shape of its name; else it is all in `(other)`."},
		{"separators", "a text", ":/.|", "ASCII characters between the segments of a name, no letters or digits."},
		{"depth", wholeNumber, "3", "Segments that are looked at, 1 to 8; what lies deeper is `*`."},
		{"allow", "a list of texts", "", "Segments that are shown whatever they look like and however rare they are."},
	}
}

// configFile is the file's content.
type configFile struct {
	Groups    []classify.Rule    `yaml:"groups"`
	Presets   *presetNames       `yaml:"presets"` // nil: the file does not say
	Discovery classify.Discovery `yaml:"discovery"`
	Typed     []typedTarget      `yaml:"targets"`

	targets []*fileTarget // nil: the file names none
}

// mostFileBytes is more than any file of settings has.
const mostFileBytes = 4 << 20

// readRegular is os.ReadFile for what neither blocks nor goes on without end, such
// as a FIFO or /dev/zero.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path) // of what a symbolic link points to
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // that of a directory fails by itself
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, mostFileBytes+1))
	if err == nil && len(content) > mostFileBytes {
		err = errors.New("it is larger than 4 MiB")
	}
	return content, err
}

// parseConfigFile reads the file's content; path is for the problems. An empty
// file has no groups.
func parseConfigFile(path string, content []byte) (configFile, []problem) {
	f := &fileReader{path: path}
	file := configFile{Discovery: classify.DefaultDiscovery()}
	var root yaml.Node
	if err := f.decodeOnly(content, &root, false); err != nil {
		if line := tabLine(content, err); line > 0 {
			return file, f.fault(line, "indent with spaces, not tabs")
		}
		return file, f.fault(0, "%s", yamlReason(err))
	}
	if root.IsZero() || root.Content[0].ShortTag() == "!!null" {
		return file, nil
	}
	groups, targets := f.top(root.Content[0])
	file.targets = targets
	if len(f.problems) > 0 {
		return file, f.problems
	}
	if err := f.decodeOnly(content, &file, true); err != nil {
		// Only merge keys and the like get here: the keys have been looked at.
		return file, f.fault(0, "%s", tidy(err))
	}
	f.described(file.Groups, groups, "", file.Discovery)
	for i, t := range targets {
		t.decoded(file.Typed[i])
		discovery := classify.DefaultDiscovery()
		if t.discovery != nil {
			discovery = classify.Discovery(*t.discovery)
		}
		f.described(t.groups, t.groupNodes, t.description+": ", discovery)
	}
	return file, f.problems
}

// described checks groups, whose nodes are given, and a discovery.
func (f *fileReader) described(rules []classify.Rule, nodes []*yaml.Node, where string, discovery classify.Discovery) {
	if err := discovery.Validate(); err != nil {
		f.fault(0, "%sdiscovery: %s", where, err)
		return
	}
	for i := range rules {
		// One more at a time: the first that is refused is the one at fault.
		if err := classify.ValidateRules(rules[:i+1]); err != nil {
			f.fault(nodes[i].Line, "%s%s", where, err)
			return
		}
	}
}

// fileReader collects the problems of a file.
type fileReader struct {
	path     string
	problems []problem
}

// fault adds a problem at a line, 0 where that is not known.
func (f *fileReader) fault(line int, format string, args ...any) []problem {
	subject := f.path
	if line > 0 {
		subject = fmt.Sprintf("%s, line %d", f.path, line)
	}
	f.problems = append(f.problems, problem{subject: subject, rule: fmt.Sprintf(format, args...)})
	return f.problems
}

// decodeOnly decodes the only document of content; no document leaves v as it is.
func (f *fileReader) decodeOnly(content []byte, v any, strict bool) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(strict)
	if err := decoder.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return errors.New("holds a second document: remove the line --- and what follows it")
	}
	return nil
}

// top looks at the keys of the file and returns the nodes of its groups, and its
// targets.
func (f *fileReader) top(root *yaml.Node) (groups []*yaml.Node, targets []*fileTarget) {
	for key, value := range f.pairs(root, "the file", []string{"groups", "presets", "discovery", "targets"}) {
		switch key.Value {
		case "discovery":
			f.values(value, "discovery", discoveryKeys(), &classify.Discovery{})
		case "presets":
			f.presets(value)
		case "targets":
			targets = f.targets(key, value)
		default:
			groups = f.groups(key, value)
		}
	}
	return groups, targets
}

// groups looks at a list of groups and returns their nodes.
func (f *fileReader) groups(key, list *yaml.Node) []*yaml.Node {
	list = resolved(list)
	if list.Kind != yaml.SequenceNode {
		if list.ShortTag() != "!!null" {
			f.fault(key.Line, "groups must be a list: - name: ...")
		}
		return nil
	}
	for _, group := range list.Content {
		f.values(group, "a group", groupKeys(), &classify.Rule{})
	}
	return list.Content
}

// presets looks at the names of presets.
func (f *fileReader) presets(node *yaml.Node) {
	err := node.Decode(&presetNames{})
	if rule, ok := errors.AsType[ruleError](err); ok {
		f.fault(node.Line, "presets: %s", rule)
	} else if err != nil {
		f.fault(node.Line, "presets must be distinctive, all, none, or a list of names such as [distinctive, kong]")
	}
}

// values looks at the keys and the values of a mapping, each by itself; what
// names it, and into is what it is decoded into.
func (f *fileReader) values(node *yaml.Node, what string, keys []fileKey, into any) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.name
	}
	for key, value := range f.pairs(node, what, names) {
		alone := yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}
		kind := keys[slices.Index(names, key.Value)].kind
		// The decoder would cut a fraction off.
		fraction := kind == wholeNumber && value.ShortTag() == "!!float"
		if err := alone.Decode(into); err != nil || fraction {
			f.fault(value.Line, "%s must be %s", key.Value, kind)
		} else if rule, ok := into.(*classify.Rule); ok && key.Value == "limit" && rule.Limit == 0 && resolved(value).ShortTag() != "!!null" {
			f.fault(value.Line, "limit must be above 0") // the rule itself cannot tell it from none
		}
	}
}

// pairs yields the known keys of a mapping with their values and reports the
// others; what names the mapping.
func (f *fileReader) pairs(node *yaml.Node, what string, known []string) func(func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		if node.Kind != yaml.MappingNode {
			f.fault(node.Line, "%s must be keys with values, such as %s: ...", what, known[0])
			return
		}
		seen := map[string]bool{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			switch {
			case key.ShortTag() == "!!merge":
				continue
			case !slices.Contains(known, key.Value):
				f.fault(key.Line, "unknown key %q in %s%s", key.Value, what, cmp.Or(nearest(key.Value, known), ", there are "+strings.Join(known, ", ")))
			case seen[key.Value]:
				f.fault(key.Line, "the key %s is given twice", key.Value)
			case !yield(key, node.Content[i+1]):
				return
			}
			seen[key.Value] = true
		}
	}
}

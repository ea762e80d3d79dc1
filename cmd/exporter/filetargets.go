// The targets of the YAML file, as it has them: each key stands for a setting of
// the environment, and is read by that setting's own rule. What a target is made
// of in the end is targets.go.

package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"keyhealth/collector/classify"
)

// targetKey is a key of a target that stands for a setting; "tls.ca_file" is
// ca_file under tls.
type targetKey struct{ name, setting, meaning string }

func targetKeys() []targetKey {
	return []targetKey{
		{"name", nameTargetName, "Value of the label `target`; required, different in every target."},
		{"url", nameRedisURL, "As there, but without user and password; required."},
		{"username", nameUsername, "`\"\"` is none."},
		{"password_file", namePasswordFile, "Stands for `KEYHEALTH_REDIS_PASSWORD` too; `\"\"` is none."},
		{"sentinel.username", nameSentinelUser, "Only where the `url` names Sentinels."},
		{"sentinel.password_file", nameSentinelFile, "Only where the `url` names Sentinels."},
		{"tls.ca_file", prefixTLS + "CA_FILE", "All of `tls` only where the `url` asks for TLS."},
		{"tls.cert_file", prefixTLS + "CERT_FILE", ""},
		{"tls.key_file", prefixTLS + "KEY_FILE", ""},
		{"tls.server_name", prefixTLS + "SERVER_NAME", ""},
		{"tls.skip_verify", prefixTLS + "SKIP_VERIFY", ""},
		{"cluster", nameCluster, ""},
		{"prefer_replica", namePreferReplica, ""},
		{"databases", nameDatabases, "Also as a list: `[0, 3]`."},
		{"sweep.interval", prefix + "SWEEP_INTERVAL", ""},
		{"sweep.max_keys", prefix + "SWEEP_MAX_KEYS", ""},
		{"sweep.full_every", prefix + "SWEEP_FULL_EVERY", ""},
		{"sweep.duty", prefix + "SWEEP_DUTY", ""},
		{"sweep.scan_count", prefix + "SWEEP_SCAN_COUNT", ""},
		{"sweep.timeout", nameSweepTimeout, ""},
		{"sweep.pool", prefix + "SWEEP_POOL", ""},
		{"selftest_interval", nameSelfTest, ""},
	}
}

// fileTarget is one target of the file.
type fileTarget struct {
	path   string // of the file
	line   int
	number int // 1 for the first
	values map[string]fileValue

	groups      []classify.Rule // nil: none of its own
	groupNodes  []*yaml.Node
	presets     *presetNames
	discovery   *fileDiscovery
	description string
}

// fileValue is the text of a scalar, or of a list of them, with commas.
type fileValue struct {
	line int
	text string
}

// typedTarget is what the decoder makes of a target: the keys that are no settings.
type typedTarget struct {
	Groups    []classify.Rule      `yaml:"groups"`
	Presets   *presetNames         `yaml:"presets"`
	Discovery *fileDiscovery       `yaml:"discovery"`
	Settings  map[string]yaml.Node `yaml:",inline"`
}

// fileDiscovery is a discovery whose missing keys have their defaults.
type fileDiscovery classify.Discovery

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *fileDiscovery) UnmarshalYAML(node *yaml.Node) error {
	*d = fileDiscovery(classify.DefaultDiscovery())
	return node.Decode((*classify.Discovery)(d))
}

// targets looks at the list of targets.
func (f *fileReader) targets(key, list *yaml.Node) (targets []*fileTarget) {
	list = resolved(list)
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		f.fault(key.Line, "targets must be a list: - {name: ..., url: ...}; without any, remove the key")
		return nil
	}
	for i, node := range list.Content {
		targets = append(targets, f.target(i+1, node))
	}
	return targets
}

// target looks at the keys of one target.
func (f *fileReader) target(number int, node *yaml.Node) *fileTarget {
	t := &fileTarget{path: f.path, line: node.Line, number: number, values: map[string]fileValue{}}
	sections, known := map[string][]string{}, []string{}
	for _, key := range targetKeys() {
		section, name, nested := strings.Cut(key.name, ".")
		if nested {
			sections[section] = append(sections[section], name)
		}
		if !slices.Contains(known, section) {
			known = append(known, section)
		}
	}
	known = append(known, "groups", "presets", "discovery")
	for key, value := range f.pairs(node, "a target", known) {
		value := resolved(value)
		null := value.ShortTag() == "!!null"
		switch {
		case null:
		case key.Value == "groups":
			t.groupNodes = f.groups(key, value)
		case key.Value == "presets":
			f.presets(value)
		case key.Value == "discovery":
			f.values(value, "discovery", discoveryKeys(), &classify.Discovery{})
		case sections[key.Value] != nil:
			for inner, value := range f.pairs(value, key.Value+" of a target", sections[key.Value]) {
				f.scalar(t, key.Value+"."+inner.Value, resolved(value))
			}
			f.noMerge(value)
		default:
			f.scalar(t, key.Value, value)
		}
	}
	f.noMerge(node)
	t.description = fmt.Sprintf("target %q", t.values["name"].text)
	if t.values["name"].text == "" && resolved(node).Kind == yaml.MappingNode {
		t.description = fmt.Sprintf("target %d", number)
		f.fault(t.line, `target %d has no name: add "name: ..."`, number)
	}
	return t
}

// scalar keeps the text of a value. What it must be is its setting's to say.
func (f *fileReader) scalar(t *fileTarget, name string, node *yaml.Node) {
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode && name == "databases" {
		items = node.Content
	}
	texts := make([]string, len(items))
	for i, item := range items {
		item = resolved(item)
		if item.Kind != yaml.ScalarNode {
			f.fault(node.Line, "%s must be one value", name)
			return
		}
		texts[i] = item.Value
	}
	if node.ShortTag() != "!!null" {
		t.values[name] = fileValue{node.Line, strings.Join(texts, ",")}
	}
}

// noMerge refuses what would be passed over.
func (f *fileReader) noMerge(node *yaml.Node) {
	node = resolved(node)
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if key := node.Content[i]; key.ShortTag() == "!!merge" {
			f.fault(key.Line, "a target must not merge keys with <<: settings of the environment are the defaults of all targets")
		}
	}
}

// resolved is what an alias stands for.
func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// decoded takes over what the decoder made of the target.
func (t *fileTarget) decoded(from typedTarget) {
	t.groups, t.presets, t.discovery = from.Groups, from.Presets, from.Discovery
}

// Groups that are known beforehand: what limiter libraries leave in Redis. The
// data are in presets.yaml; docs/presets.md is made from them.

package classify

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed presets.yaml
var presetsFile []byte

// Preset describes the keys of one library or gateway.
type Preset struct {
	Name        string      `yaml:"name"`           // the project's own name, in lower case with hyphens: the group's name
	Project     string      `yaml:"project"`        // owner/name of its repository, or its site
	Source      string      `yaml:"source"`         // the file there that was read
	Match       Globs       `yaml:"match"`          // Redis globs; one is enough to match
	Type        string      `yaml:"type"`           // of the keys, where other keys may have such names
	TTL         Expectation `yaml:"ttl"`            // expected: always; persistent: never, by design; unknown: either
	MaxTTL      Duration    `yaml:"max_ttl"`        // the longest legitimate one, where no window is in the name
	Window      nameWindow  `yaml:"window"`         // how the name tells the window, if it does
	WindowFits  float64     `yaml:"max_ttl_factor"` // max TTL = window x factor
	Index       nameIndex   `yaml:"index"`          // where the name holds the number of its window, if it does
	Lockout     bool        `yaml:"lockout"`        // a zombie locks its caller out
	Counts      string      `yaml:"counts"`         // which way the state moves: up, down or elements; empty: none of them
	UniqueNames bool        `yaml:"unique_names"`   // names are made fresh, per window or per request
	Distinctive bool        `yaml:"distinctive"`    // nothing else has such names: safe on an unknown Redis
	Note        string      `yaml:"note"`           // what to know when a zombie is found
}

// PresetNames can stand in the place of names of presets.
const (
	PresetsDistinctive = "distinctive" // those whose names nothing else has
	PresetsAll         = "all"
	PresetsNone        = "none"
)

// Presets are all presets that there are, by name.
func Presets() []Preset {
	presets, err := parsePresets(presetsFile)
	if err != nil {
		panic(err) // the file is part of the program: every test would fail
	}
	return presets
}

func parsePresets(content []byte) ([]Preset, error) {
	var presets []Preset
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&presets); err != nil {
		return nil, fmt.Errorf("presets: %w", err)
	}
	for i := range presets {
		if err := presets[i].validate(); err != nil {
			return nil, fmt.Errorf("preset %q: %w", presets[i].Name, err)
		}
		if i > 0 && presets[i-1].Name >= presets[i].Name {
			return nil, fmt.Errorf("preset %q: must come before %q: they are sorted by name", presets[i].Name, presets[i-1].Name)
		}
	}
	return presets, nil
}

// SelectPresets are those that are named; the words distinctive, all and none
// stand for several. The order is that of Presets.
func SelectPresets(names []string) ([]Preset, error) {
	all := Presets()
	wanted := map[string]bool{}
	for _, name := range names {
		switch name {
		case PresetsNone:
			if len(names) > 1 {
				return nil, errors.New("none stands alone")
			}
			continue
		case PresetsAll, PresetsDistinctive:
		default:
			if !slices.ContainsFunc(all, func(p Preset) bool { return p.Name == name }) {
				return nil, UnknownPresetError(name)
			}
		}
		wanted[name] = true
	}
	return slices.DeleteFunc(all, func(p Preset) bool {
		return !wanted[PresetsAll] && !(wanted[PresetsDistinctive] && p.Distinctive) && !wanted[p.Name]
	}), nil
}

// UnknownPresetError is a name that no preset has.
type UnknownPresetError string

func (e UnknownPresetError) Error() string { return fmt.Sprintf("there is no preset %q", string(e)) }

var presetName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// keyTypes are the answers of TYPE.
var keyTypes = []string{"string", "list", "set", "zset", "hash", "stream"}

func (p *Preset) validate() error {
	expected := p.TTL == Expected
	switch {
	case !presetName.MatchString(p.Name):
		return errors.New("a name is of lower case letters, digits and single hyphens")
	case p.Project == "" || p.Source == "":
		return errors.New("project and source say where the facts come from")
	case len(p.Match) == 0 || slices.Contains(p.Match, ""):
		return errors.New("match is empty")
	case p.Type != "" && !slices.Contains(keyTypes, p.Type):
		return errors.New("there is no such type")
	case !slices.Contains([]Expectation{Expected, Persistent, Unknown}, p.TTL):
		return errors.New("ttl must be expected, persistent or unknown")
	case !slices.Contains([]nameWindow{"", windowUnit, windowMultiple, windowJSON}, p.Window):
		return errors.New("window must be unit, multiple or json")
	case p.Window != "" && p.WindowFits < 1, p.Window == "" && p.WindowFits != 0:
		return errors.New("max_ttl_factor, at least 1, belongs to window")
	case !slices.Contains([]nameIndex{"", indexFirst, indexLast}, p.Index):
		return errors.New("index must be first or last")
	case !slices.Contains([]string{"", "up", "down", "elements"}, p.Counts):
		return errors.New("counts must be up, down or elements")
	case !expected && (p.Lockout || p.Index != ""):
		return errors.New("only where a TTL is expected a zombie can lock out or leak")
	case p.TTL == Persistent && (p.MaxTTL != 0 || p.Window != ""):
		return errors.New("a persistent group has no max_ttl or window")
	case p.Distinctive && strings.HasPrefix(p.Match[0], "*"):
		return errors.New("a distinctive name has a beginning")
	}
	return nil
}

func (p *Preset) definition() *Definition {
	d := &Definition{
		Name: p.Name, Source: SourcePreset, Library: p.Project, TTL: p.TTL,
		maxTTL: time.Duration(p.MaxTTL), stated: p.MaxTTL > 0,
		window: p.Window, windowFits: p.WindowFits,
		index: p.Index, Lockout: p.Lockout, Counts: Up, UniqueNames: p.UniqueNames,
	}
	if p.MaxTTL == 0 {
		d.maxTTL = DefaultMaxTTL
	}
	if p.Counts == string(Down) {
		d.Counts = Down
	}
	return d
}

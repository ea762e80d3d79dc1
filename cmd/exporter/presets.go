package main

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"keyhealth/collector/classify"
)

// presetNames are names of presets, and words that stand for several of them.
type presetNames []string

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *presetNames) UnmarshalText(text []byte) error {
	var names presetNames
	for name := range strings.SplitSeq(string(text), ",") {
		names = append(names, strings.TrimSpace(name))
	}
	*n = names
	return names.check()
}

// UnmarshalYAML reads "presets: all", "presets: distinctive, kong" and
// "presets: [distinctive, kong]" alike.
func (n *presetNames) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return n.UnmarshalText([]byte(node.Value))
	}
	if err := node.Decode((*[]string)(n)); err != nil {
		return err
	}
	return n.check()
}

// check words what is wrong with the names; the nearest one is named.
func (n presetNames) check() error {
	_, err := classify.SelectPresets(n)
	unknown, isUnknown := errors.AsType[classify.UnknownPresetError](err)
	switch {
	case !isUnknown && err != nil:
		return ruleError(err.Error())
	case !isUnknown:
		return nil
	case unknown == "" || shown(string(unknown)) == "": // may have been meant for another setting
		return errors.New("no name of a preset")
	}
	known := []string{classify.PresetsDistinctive, classify.PresetsAll, classify.PresetsNone}
	for _, p := range classify.Presets() {
		known = append(known, p.Name)
	}
	return ruleError(fmt.Sprintf("there is no preset %q%s; docs/presets.md lists them", clipped(string(unknown)), nearest(string(unknown), known)))
}

// String is a text that UnmarshalText reads.
func (n presetNames) String() string {
	if len(n) == 0 {
		return classify.PresetsNone
	}
	return strings.Join(n, ",")
}

// selected are the presets that the names stand for; they have been checked.
func (n presetNames) selected() []classify.Preset {
	presets, _ := classify.SelectPresets(n)
	return presets
}

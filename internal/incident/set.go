package incident

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Set gives the series of a selector another value, or a slope, from a step on.
// Where none matches there is one from then on.
type Set struct {
	selector Selector
	value    float64
	slope    float64       // a second, on top of what is scraped
	sloping  bool          // "+N/s"
	at       time.Duration // filled in by the timeline
}

var slopeForm = regexp.MustCompile(`^([+-][0-9.eE+-]+)/s$`)

// Sets are changes of series: a map of series to values, a list of such maps, or
// a list of texts, "NAME{LABELS} VALUE".
type Sets []Set

// UnmarshalYAML implements yaml.Unmarshaler.
func (l *Sets) UnmarshalYAML(node *yaml.Node) error {
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			if err := l.UnmarshalYAML(item); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			if err := l.add(node.Content[i].Value, node.Content[i+1].Value); err != nil {
				return fmt.Errorf("line %d: %w", node.Line, err)
			}
		}
		return nil
	}
	end := strings.LastIndexAny(node.Value, " =")
	if end < 0 {
		return fmt.Errorf("line %d: %q is no NAME{LABELS} VALUE", node.Line, node.Value)
	}
	return l.add(strings.TrimRight(node.Value[:end+1], " ="), node.Value[end+1:])
}

func (l *Sets) add(series, value string) error {
	var s Set
	if err := s.parse(series, value); err != nil {
		return err
	}
	*l = append(*l, s)
	return nil
}

func (s *Set) parse(series, value string) (err error) {
	if s.selector, err = ParseSelector(series); err != nil {
		return err
	}
	if slope := slopeForm.FindStringSubmatch(value); slope != nil {
		s.sloping = true
		s.slope, err = strconv.ParseFloat(slope[1], 64)
		return err
	}
	s.value, err = strconv.ParseFloat(value, 64)
	return err
}

// apply changes the samples of a state that begins at a time.
func (s Set) apply(samples []Sample, at time.Duration) []Sample {
	matched := false
	for i, sample := range samples {
		if !s.selector.Matches(sample) {
			continue
		}
		matched = true
		if s.sloping {
			samples[i].Value += s.slope * (at - s.at).Seconds()
			samples[i].Slope = s.slope
			continue
		}
		samples[i].Value, samples[i].Slope = s.value, 0
	}
	if !matched {
		value := s.value + s.slope*(at-s.at).Seconds()
		samples = append(samples, Sample{Name: s.selector.name, Labels: s.labels(samples), Value: value, Slope: s.slope})
	}
	return samples
}

// labels are those of a series that the exporter does not have: the target's and
// node's own, and those that the selector names.
func (s Set) labels(samples []Sample) map[string]string {
	labels := map[string]string{}
	for _, sample := range samples {
		switch {
		case sample.Name == "keyhealth_up":
			maps.Copy(labels, sample.Labels)
		case sample.Name == "keyhealth_node_up" && strings.HasPrefix(s.selector.name, "keyhealth_memory"):
			maps.Copy(labels, sample.Labels)
		}
	}
	for _, m := range s.selector.matchers {
		if m.operator == "=" {
			labels[m.label] = m.value
		}
	}
	return labels
}

package incident

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sample is the value of a series in a scrape, and how it goes on from there.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
	Slope  float64 // what it gains a second of virtual time
}

// Series is the sample's name and labels as Prometheus writes them.
func (s Sample) Series() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		parts = append(parts, fmt.Sprintf("%s=%q", name, s.Labels[name]))
	}
	return s.Name + "{" + strings.Join(parts, ",") + "}"
}

// Parse reads the exporter's own series from a scrape. Quantiles are left out,
// and so is what is no number.
func Parse(text []byte) ([]Sample, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var samples []Sample
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if !strings.HasPrefix(name, "keyhealth_") {
			continue
		}
		for _, metric := range families[name].GetMetric() {
			samples = append(samples, samplesOf(name, metric)...)
		}
	}
	return slices.DeleteFunc(samples, func(s Sample) bool { return math.IsNaN(s.Value) || math.IsInf(s.Value, 0) }), nil
}

func samplesOf(name string, metric *dto.Metric) []Sample {
	labels := map[string]string{}
	for _, label := range metric.GetLabel() {
		labels[label.GetName()] = label.GetValue()
	}
	switch {
	case metric.Gauge != nil:
		return []Sample{{Name: name, Labels: labels, Value: metric.GetGauge().GetValue()}}
	case metric.Counter != nil:
		return []Sample{{Name: name, Labels: labels, Value: metric.GetCounter().GetValue()}}
	case metric.Summary != nil:
		return []Sample{
			{Name: name + "_sum", Labels: labels, Value: metric.GetSummary().GetSampleSum()},
			{Name: name + "_count", Labels: labels, Value: float64(metric.GetSummary().GetSampleCount())},
		}
	}
	return nil
}

// Selector is NAME{LABEL="value",...} with =, !=, =~ and !~.
type Selector struct {
	text     string
	name     string
	matchers []matcher
}

type matcher struct {
	label, operator, value string
	pattern                *regexp.Regexp
}

var (
	selectorForm = regexp.MustCompile(`^([a-zA-Z_:][\w:]*)\s*(?:\{(.*)\})?$`)
	matcherForm  = regexp.MustCompile(`^\s*(\w+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*,?`)
)

// ParseSelector reads a selector.
func ParseSelector(text string) (Selector, error) {
	parts := selectorForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Selector{}, fmt.Errorf("%q is no NAME{LABELS}", text)
	}
	s := Selector{text: strings.TrimSpace(text), name: parts[1]}
	for rest := parts[2]; strings.TrimSpace(rest) != ""; {
		found := matcherForm.FindStringSubmatch(rest)
		if found == nil {
			return Selector{}, fmt.Errorf("%q: %q are no labels", text, rest)
		}
		rest = rest[len(found[0]):]
		m := matcher{label: found[1], operator: found[2], value: strings.Trim(found[3], "'")}
		if found[3][0] == '"' {
			var err error
			if m.value, err = strconv.Unquote(found[3]); err != nil {
				return Selector{}, fmt.Errorf("%q: %w", text, err)
			}
		}
		if strings.HasSuffix(m.operator, "~") {
			var err error
			if m.pattern, err = regexp.Compile("^(?:" + m.value + ")$"); err != nil {
				return Selector{}, fmt.Errorf("%q: %w", text, err)
			}
		}
		s.matchers = append(s.matchers, m)
	}
	return s, nil
}

// String is the selector as it was written.
func (s Selector) String() string { return s.text }

// Matches says whether the selector takes the sample.
func (s Selector) Matches(sample Sample) bool {
	if s.name != sample.Name {
		return false
	}
	for _, m := range s.matchers {
		value := sample.Labels[m.label]
		same := value == m.value
		if m.pattern != nil {
			same = m.pattern.MatchString(value)
		}
		if same == strings.HasPrefix(m.operator, "!") {
			return false
		}
	}
	return true
}

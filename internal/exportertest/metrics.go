package exportertest

import (
	"bytes"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics is one scrape: the value of each series, by its name and labels.
type Metrics struct {
	families map[string]*dto.MetricFamily
}

// Parse reads the text format; it fails on anything invalid.
func Parse(text []byte) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	return Metrics{families}, err
}

// Values are the values of the series of a name that carry all given labels,
// each "label=value".
func (m Metrics) Values(name string, labels ...string) []float64 {
	var values []float64
	for _, metric := range m.families[name].GetMetric() {
		if !carries(metric, labels) {
			continue
		}
		switch {
		case metric.Gauge != nil:
			values = append(values, metric.GetGauge().GetValue())
		case metric.Counter != nil:
			values = append(values, metric.GetCounter().GetValue())
		case metric.Summary != nil:
			values = append(values, float64(metric.GetSummary().GetSampleCount()))
		}
	}
	return values
}

func carries(metric *dto.Metric, labels []string) bool {
	have := map[string]bool{}
	for _, label := range metric.GetLabel() {
		have[label.GetName()+"="+label.GetValue()] = true
	}
	for _, label := range labels {
		if !have[label] {
			return false
		}
	}
	return true
}

// Value is the value of the one series that matches; none or several end the
// test.
func (m Metrics) Value(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	values := m.Values(name, labels...)
	if len(values) != 1 {
		t.Fatalf("%d series match %s{%s}", len(values), name, strings.Join(labels, ","))
	}
	return values[0]
}

// Has says whether a series matches.
func (m Metrics) Has(name string, labels ...string) bool { return len(m.Values(name, labels...)) > 0 }

// Is says whether there is one such series without further labels and compares it.
func (m Metrics) Is(name, operator string, value float64) bool {
	values := m.Values(name)
	if len(values) != 1 {
		return false
	}
	switch operator {
	case "==":
		return values[0] == value
	case ">=":
		return values[0] >= value
	}
	panic("no operator " + operator)
}

// Names are the names of all families.
func (m Metrics) Names() []string {
	names := make([]string, 0, len(m.families))
	for name := range m.families {
		names = append(names, name)
	}
	return names
}

// Every series of the collector is one row of a table: its whole name, help,
// labels, type, and how it is read from a snapshot. The rows stand in
// metrics_health.go, metrics_database.go, metrics_node.go, metrics_group.go and
// metrics_selftest.go.

package collector

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"keyhealth/collector/source"
)

// metric is one row. Every series carries the label target before its own.
type metric struct {
	name    string
	help    string
	kind    prometheus.ValueType
	labels  []string
	read    func(*Snapshot, put)        // puts nothing where there is no value
	scripts func(*Snapshot, putSummary) // instead of read: a summary
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// put emits a value; its labels are those of the row, in their order.
type put func(value float64, labels ...string)

// putSummary emits a summary.
type putSummary func(script source.Script, labels ...string)

// metrics are all rows, health first.
func metrics() []metric {
	return slices.Concat(healthMetrics(), databaseMetrics(), nodeMetrics(), groupMetrics(), selfTestMetrics())
}

// series is a row with its descriptor.
type series struct {
	metric
	desc *prometheus.Desc
}

func describe(rows []metric) []series {
	all := make([]series, len(rows))
	for i, row := range rows {
		all[i] = series{row, prometheus.NewDesc(row.name, row.help, append([]string{"target"}, row.labels...), nil)}
	}
	return all
}

// collect renders one row of a snapshot.
func (s series) collect(snapshot *Snapshot, ch chan<- prometheus.Metric) {
	withTarget := func(labels []string) []string { return append([]string{snapshot.Target}, labels...) }
	if s.scripts != nil {
		s.scripts(snapshot, func(script source.Script, labels ...string) {
			ch <- s.valid(prometheus.NewConstSummary(s.desc, script.Calls, script.Seconds, script.Quantiles, withTarget(labels)...))
		})
		return
	}
	s.read(snapshot, func(value float64, labels ...string) {
		ch <- s.valid(prometheus.NewConstMetric(s.desc, s.kind, value, withTarget(labels)...))
	})
}

// valid turns a value that cannot be rendered into an error of the scrape
// instead of a crash: one bad label never blanks the rest.
func (s series) valid(m prometheus.Metric, err error) prometheus.Metric {
	if err != nil {
		return prometheus.NewInvalidMetric(s.desc, err)
	}
	return m
}

// MetricDoc documents one metric; docs/metrics.md is made of them.
type MetricDoc struct {
	Name, Help, Type string
	Labels           []string
}

// MetricDocs lists every metric of the collector.
func MetricDocs() []MetricDoc {
	var docs []MetricDoc
	for _, row := range metrics() {
		doc := MetricDoc{Name: row.name, Help: row.help, Type: "gauge", Labels: append([]string{"target"}, row.labels...)}
		switch {
		case row.scripts != nil:
			doc.Type = "summary"
		case row.kind == counter:
			doc.Type = "counter"
		}
		docs = append(docs, doc)
	}
	return docs
}

func number01(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func dbLabel(db int) string { return strconv.Itoa(db) }

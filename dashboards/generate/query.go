// PromQL and the queries that carry it. Everything is aggregated by the labels
// that name a thing, with max over exporters, so that a pair of them that
// watches one Redis is not counted twice.

package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// Selectors of what the user has picked.
const (
	inTarget = `target=~"$target"`
	inDB     = inTarget + `,db=~"$db"`
	inGroup  = inDB + `,group=~"$group"`
)

// Legends.
const (
	ofTarget = "{{target}}"
	ofDB     = "{{target}}/{{db}}"
	ofGroup  = "{{target}}/{{db}} {{group}}"
	ofNode   = "{{target}} {{node}}"
)

func byTarget(metric string) string { return most("target", metric, inTarget) }
func byNode(metric string) string   { return most("target, node", metric, inTarget) }
func byDB(metric string) string     { return most("target, db", metric, inDB) }
func byGroup(metric string) string  { return most("target, db, group", metric, inGroup) }

// most is the largest value by labels; the exporters of one Redis differ by at
// most what changed between their sweeps.
func most(labels, metric, selector string) string {
	return fmt.Sprintf("max by (%s) (%s{%s})", labels, metric, selector)
}

// rate is the largest rate by labels.
func rate(labels, counter, selector string) string {
	return fmt.Sprintf("max by (%s) (rate(%s{%s}[$__rate_interval]))", labels, counter, selector)
}

// graph is a query over the time shown.
func graph(refID, legend, expr string) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().
		Datasource(datasource()).
		EditorMode(prometheus.QueryEditorModeCode).
		Format(prometheus.PromQueryFormatTimeSeries).
		Range().
		RefId(refID).
		LegendFormat(legend).
		Expr(expr)
}

// speed is a graph of a rate. Counters move once a sweep, so that a rate has to
// look back over several: Grafana takes four times the interval given here,
// which is that of sweeps by default.
func speed(refID, legend, expr string) *prometheus.DataqueryBuilder {
	return graph(refID, legend, expr).Interval("1m")
}

// now is a query of the present only: a number that has vanished must not show
// with its last value.
func now(refID, legend, expr string) *prometheus.DataqueryBuilder {
	return graph(refID, legend, expr).Instant()
}

// cells is a query of the present for one column of a table.
func cells(refID, expr string) *prometheus.DataqueryBuilder {
	return now(refID, "", expr).Format(prometheus.PromQueryFormatTable)
}

// alarmLine is a line at the share from which the alert rules fire, where expr
// has a value at all.
func alarmLine(refID, expr string) *prometheus.DataqueryBuilder {
	return graph(refID, "alert", fmt.Sprintf("%g + 0 * max(\n%s\n)", alarm, expr))
}

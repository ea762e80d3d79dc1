// The metrics that queries name: that they and their labels exist, and that a
// pair of exporters is not counted twice.

package dashboards

import (
	"regexp"
	"slices"
	"strings"

	"keyhealth/collector"
)

var (
	metricPattern = regexp.MustCompile(`\b(keyhealth_\w+)(\{([^}]*)\})?`)
	labelPattern  = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	// aggregated is what has to stand before a metric.
	aggregated = regexp.MustCompile(`(max|min|sum) by \((target[^)]*)\) \((?:(?:rate|increase)\()?$`)
)

// counted are metrics of the exporters and not of a Redis: they add up.
var counted = []string{"keyhealth_redis_commands_total"}

// checkMetrics wants each metric aggregated by target at least.
func checkMetrics(expr string, say report) {
	checkNames(expr, say)
	if !metricPattern.MatchString(expr) {
		say("asks for no metric of keyhealth")
	}
	for _, at := range metricPattern.FindAllStringSubmatchIndex(expr, -1) {
		name := expr[at[2]:at[3]]
		before := aggregated.FindStringSubmatch(expr[:at[0]])
		if before == nil {
			say("%s is not aggregated by target", name)
			continue
		}
		if before[1] == "sum" && !slices.Contains(counted, name) {
			say("%s is counted once an exporter", name)
		}
		for label := range strings.SplitSeq(before[2], ",") {
			checkLabel(name, strings.TrimSpace(label), say)
		}
	}
}

// checkNames looks for metrics and selected labels that do not exist.
func checkNames(expr string, say report) {
	for _, m := range metricPattern.FindAllStringSubmatch(expr, -1) {
		if _, ok := docs(m[1]); !ok {
			say("there is no metric %s", m[1])
			continue
		}
		if !strings.Contains(m[3], `target=~"$target"`) && m[3] != "" {
			say("%s is not limited to the targets picked", m[1])
		}
		for _, label := range labelPattern.FindAllStringSubmatch(m[3], -1) {
			checkLabel(m[1], label[1], say)
		}
	}
}

func checkLabel(metric, label string, say report) {
	if doc, ok := docs(metric); ok && !slices.Contains(doc.Labels, label) {
		say("%s has no label %q", metric, label)
	}
}

// docs finds a metric; a summary has three names.
func docs(name string) (collector.MetricDoc, bool) {
	all := collector.MetricDocs()
	i := slices.IndexFunc(all, func(doc collector.MetricDoc) bool {
		return doc.Name == name || doc.Type == "summary" && (name == doc.Name+"_sum" || name == doc.Name+"_count")
	})
	if i < 0 {
		return collector.MetricDoc{}, false
	}
	return all[i], true
}

// docs/metrics.md is made of the metric table, and nothing names a metric that
// is not in it: alerts, dashboards and documents cannot drift.

package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

const metricsPage = "../docs/metrics.md"

const metricsIntroduction = `# Metrics

<!-- Generated from the metric table by "make docs"; do not edit. -->

Every series about a Redis carries the label ` + "`target`" + `, the name of a deployment. Aggregate by it: a pair of exporters
that watch the same Redis then counts once.

- **Absent means unknown.** A value that does not exist yet, that the server does not tell or does not permit us to read
  has no series. Counters with a fixed list of label values are the exception: they begin at 0.
- **A failure is never a 0.** When a sweep fails, the series of databases, groups and nodes keep the values of the last good
  one until they are older than ` + "`keyhealth_stale_after_seconds`" + `; then they go. The health series are there from the first
  scrape on and stay: alert on
  ` + "`keyhealth_up`" + `, ` + "`keyhealth_sweep_success`" + ` and ` + "`keyhealth_sweep_last_success_timestamp_seconds`" + `.
- **Exact or estimated.** What INFO tells of a database or node is exact. What is said of groups and zombies is exact after a
  walk (` + "`keyhealth_sweep_coverage_ratio`" + ` is 1) of a keyspace that stands still, else an estimate; the bounds of the zombie
  ratio say how sure it is. Memory per group is always an estimate.
- **Process metrics.** ` + "`keyhealth_build_info`" + ` and the usual ` + "`go_*` and `process_*`" + ` series of the exporter itself carry no ` + "`target`" + `.

The column cardinality says how many series there are: one for each combination of what it lists. Labels that only describe
(a version, a policy) do not multiply. A number in brackets is that of the label's possible values.
`

// multipliers says how many values a label can take, for the column
// cardinality: "" where it only describes what the other labels name.
var multipliers = map[string]string{
	"target": "target", "node": "node", "db": "db", "group": "group", "command": "command", "capability": "capability",
	"reason": fmt.Sprintf("reason (%d)", len(source.Reasons)),
	"error":  fmt.Sprintf("error (%d)", len(source.ErrorKinds)),
	"band":   fmt.Sprintf("band (%d)", len(tally.BandNames)),
	"kind":   fmt.Sprintf("kind (%d)", len(classify.KindNames)),
	"check":  "check (4)",
	"role":   "", "version": "", "mode": "", "flavor": "", "policy": "", "required": "",
	"source": "", "ttl": "", "library": "", "unique_names": "",
}

// metricTopics are the page's tables.
func metricTopics() []struct {
	title string
	rows  []metric
} {
	return []struct {
		title string
		rows  []metric
	}{
		{"Health", healthMetrics()},
		{"Per database", databaseMetrics()},
		{"Per node", nodeMetrics()},
		{"Per group", groupMetrics()},
		{"Self-test of the limiter", selfTestMetrics()},
	}
}

// markdown keeps a text from being read as markup.
var markdown = strings.NewReplacer("|", `\|`, "*", `\*`)

// metricsMarkdown is the page.
func metricsMarkdown(t *testing.T) string {
	var b strings.Builder
	b.WriteString(metricsIntroduction)
	left := MetricDocs()
	for _, topic := range metricTopics() {
		fmt.Fprintf(&b, "\n## %s\n\n| name | type | labels | cardinality | meaning |\n|---|---|---|---|---|\n", topic.title)
		for _, row := range topic.rows {
			i := slices.IndexFunc(left, func(d MetricDoc) bool { return d.Name == row.name })
			if i < 0 {
				t.Fatalf("%s is not in MetricDocs", row.name)
			}
			doc := left[i]
			left = slices.Delete(left, i, i+1)
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s |\n",
				doc.Name, doc.Type, strings.Join(doc.Labels, "`, `"), cardinality(t, doc), markdown.Replace(doc.Help))
		}
	}
	b.WriteString("\n## Label values\n\nWhy a sweep failed (`reason`), which is in the log too:\n\n| reason | what to do |\n|---|---|\n")
	for _, reason := range source.Reasons {
		fmt.Fprintf(&b, "| `%s` | %s |\n", reason, markdown.Replace(source.AdviceOn(reason)))
	}
	fmt.Fprintf(&b, "\n`band`: `%s`. `error`: `%s`. `kind`: `%s`.\n`source` of a group: `%s`, `%s`, `%s` or `%s`.\n", strings.Join(tally.BandNames[:], "`, `"),
		strings.Join(source.ErrorKinds, "`, `"), strings.Join(classify.KindNames[:], "`, `"), classify.SourceRule, classify.SourcePreset, classify.SourceDiscovered, classify.SourceOther)
	for _, doc := range left {
		t.Errorf("%s has no topic: add its table to metricTopics", doc.Name)
	}
	return b.String()
}

func cardinality(t *testing.T, doc MetricDoc) string {
	var factors []string
	for _, label := range doc.Labels {
		factor, known := multipliers[label]
		if !known {
			t.Errorf("%s: say in multipliers how many values the label %s can take", doc.Name, label)
		}
		if factor != "" {
			factors = append(factors, factor)
		}
	}
	return strings.Join(factors, " x ")
}

func TestMetricsPage(t *testing.T) { wantFile(t, metricsPage, metricsMarkdown(t)) }

// otherMetrics are not the collector's: the version collector's, and those of the
// exporter's configuration.
var otherMetrics = []string{"keyhealth_build_info", "keyhealth_config_last_reload_success", "keyhealth_config_last_reload_success_timestamp_seconds"}

var metricWord = regexp.MustCompile(`[A-Za-z0-9_:]+`)

// unknownMetrics are the names in a text that begin like a metric of ours and
// are none. Names with a colon are recording rules.
func unknownMetrics(text string) (unknown []string) {
	known := slices.Clone(otherMetrics)
	for _, doc := range MetricDocs() {
		known = append(known, doc.Name)
		if doc.Type == "summary" {
			known = append(known, doc.Name+"_sum", doc.Name+"_count", doc.Name+"_bucket")
		}
	}
	for _, word := range metricWord.FindAllString(text, -1) {
		if !strings.HasPrefix(word, "keyhealth_") || strings.Contains(strings.TrimSuffix(word, ":"), ":") {
			continue
		}
		name := strings.TrimSuffix(word, ":")
		begins := func(full string) bool { return strings.HasSuffix(name, "_") && strings.HasPrefix(full, name) } // "keyhealth_memory_*"
		if !slices.Contains(known, name) && !slices.ContainsFunc(known, begins) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func TestNamedMetricsExist(t *testing.T) {
	read := 0
	for _, pattern := range []string{"../alerts/*.yml", "../dashboards/*.json", "../README.md", "../docs/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			read++
			unknown := unknownMetrics(string(text))
			slices.Sort(unknown)
			for _, name := range slices.Compact(unknown) {
				t.Errorf("%s names %s, which is no metric", filepath.Clean(path), name)
			}
		}
	}
	if read < 3 {
		t.Errorf("only %d files were read", read)
	}
}

func TestUnknownMetrics(t *testing.T) {
	text := `max by (target) (keyhealth_up{x="y"}) keyhealth_script_duration_seconds_sum keyhealth_build_info
		target:keyhealth_keys:sum keyhealth_keys:rate5m keyhealth_keys: not_keyhealth_x KEYHEALTH_X keyhealth_memory_* rate(keyhealth_up_count[5m])
		keyhealth_zombies keyhealth_zombies_total{a="b"} keyhealth_nonsense_*`
	want := []string{"keyhealth_up_count", "keyhealth_zombies", "keyhealth_zombies_total", "keyhealth_nonsense_"}
	if got := unknownMetrics(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// How snapshots are rendered, whatever is in them. The whole text of a scrape in
// each state is in golden_test.go.

package collector

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// gather is what a scrape of a collector shows.
func gather(t testing.TB, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Error(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Error(err)
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Error(err)
		}
	}
	return text.String()
}

// rounded has the values of a scrape to nine digits: processors differ in the
// last ones.
func rounded(scrape string) string {
	var b strings.Builder
	for line := range strings.Lines(scrape) {
		at := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(strings.TrimSuffix(line[at+1:], "\n"), 64)
		if err != nil || line[0] == '#' {
			b.WriteString(line)
			continue
		}
		b.WriteString(line[:at+1] + strconv.FormatFloat(value, 'g', 9, 64) + "\n")
	}
	return b.String()
}

// TestBadLabel: a value that is no valid label costs its own series, and no
// other one of the scrape.
func TestBadLabel(t *testing.T) {
	w := watcherOf(targetOf(t, ""), fake.NewNode(t), silentLog())
	info := source.ParseInfo("# Memory\r\nused_memory:1\r\nmaxmemory_policy:\xff\r\n")
	w.latest.Store(&Snapshot{
		Target: "shop",
		Nodes:  []Node{{Name: "redis.test:6379", Up: true, Info: &info}},
		Health: Health{Up: true, Capabilities: []source.Capability{{Name: "bad\xff"}}},
		Groups: []estimate.Group{{Name: "bad\xff\xfe", TTL: classify.Unknown, Keys: 1}, {Name: "good", TTL: classify.Unknown, Keys: 2}},
	})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(New(w))
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).
		ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if response.Code != http.StatusOK {
		t.Errorf("status %d", response.Code)
	}
	for _, line := range []string{
		`keyhealth_up{target="shop"} 1`,
		`keyhealth_group_keys{db="0",group="good",target="shop"} 2`,
		`keyhealth_memory_used_bytes{node="redis.test:6379",target="shop"} 1`,
		`keyhealth_eviction_policy_info{node="redis.test:6379",policy="?",target="shop"} 1`,
	} {
		if !strings.Contains(response.Body.String(), line+"\n") {
			t.Errorf("the scrape lacks %s", line)
		}
	}
	if strings.Contains(response.Body.String(), "bad") {
		t.Error("a bad label is shown")
	}
}

// TestTwoTargets: every series of a Redis carries its target.
func TestTwoTargets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var watchers []*Watcher
		for _, name := range []string{"shop", "login"} {
			target := shopTarget()
			target.Name = name
			w := watcherOf(target, shopNode(t), silentLog())
			sweepAndPublish(w)
			watchers = append(watchers, w)
		}
		lines := map[string][]string{}
		for line := range strings.Lines(gather(t, New(watchers...))) {
			for _, name := range []string{"shop", "login"} {
				if label := `target="` + name + `"`; strings.Contains(line, label) && !strings.Contains(line, "timestamp_seconds") {
					lines[name] = append(lines[name], strings.ReplaceAll(line, label, ""))
				}
			}
			if !strings.HasPrefix(line, "#") && !strings.Contains(line, "target=") {
				t.Errorf("no target: %s", line)
			}
		}
		if len(lines["shop"]) < 100 || !slices.Equal(lines["shop"], lines["login"]) {
			t.Errorf("%d and %d series of the same keyspace, or not the same ones", len(lines["shop"]), len(lines["login"]))
		}
	})
}

// TestDescribe: it names every metric that is documented, and does no more.
func TestDescribe(t *testing.T) {
	n := fake.NewNode(t)
	descs := make(chan *prometheus.Desc, 1000)
	New(watcherOf(targetOf(t, ""), n, silentLog())).Describe(descs)
	close(descs)
	var described []string
	for desc := range descs {
		name, _, _ := strings.Cut(strings.TrimPrefix(desc.String(), `Desc{fqName: "`), `"`)
		described = append(described, name)
	}
	var documented []string
	for _, doc := range MetricDocs() {
		documented = append(documented, doc.Name)
	}
	if !slices.Equal(described, documented) {
		t.Errorf("described %v, documented %v", described, documented)
	}
	slices.Sort(documented)
	if len(slices.Compact(documented)) != len(described) {
		t.Error("a metric stands in the table twice")
	}
	if len(n.Log("")) > 0 {
		t.Error("Describe spoke to Redis")
	}
}

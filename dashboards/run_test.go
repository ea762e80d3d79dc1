// All queries of the dashboard at once, as Grafana would send them.

package dashboards

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// dashboardRun is the dashboard on its data.
type dashboardRun struct {
	t          *testing.T
	board      board
	server     *redistest.Server
	prometheus *prometheus
}

// settled runs all queries until each has data, and has all that a rate looks at
// of so many exporters that sweep. It takes at most two minutes, and a query that
// fails ends the test.
func (d dashboardRun) settled(exporters float64) map[string]series {
	d.t.Helper()
	if !d.isUp() {
		d.t.Fatal("Prometheus does not answer")
	}
	client := d.server.Client(d.t)
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(200 * time.Millisecond) {
		_ = client.EvalSha(d.t.Context(), strings.Repeat("f", 40), nil).Err() // an error reply to be counted
		sweeping, err := d.prometheus.now("count(count_over_time(keyhealth_sweep_coverage_ratio[10s]) >= 9)")
		found := d.run(map[string]string{"target": ".*", "db": ".*", "group": ".*"})
		if err == nil && sweeping[""] == exporters && len(d.empty(found)) == 0 {
			return found
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("after two minutes %v of %v exporters are scraped (%v), and these queries have no data: %q",
				sweeping[""], exporters, err, d.empty(found))
		}
	}
}

// isUp waits until Prometheus answers at all.
func (d dashboardRun) isUp() bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if _, err := d.prometheus.now("vector(1)"); err == nil {
			return true
		}
	}
	return false
}

// run runs every query as Grafana would with these values of the variables. Its
// answers are named by the title of the panel and the refId.
func (d dashboardRun) run(picked map[string]string) map[string]series {
	d.t.Helper()
	found := map[string]series{}
	for _, p := range d.board.Panels {
		for _, q := range p.Targets {
			ask := d.prometheus.recent
			if q.Instant {
				ask = d.prometheus.now
			}
			name := p.Title + "/" + q.RefID
			answer, err := ask(interpolate(q.Expr, picked))
			if err != nil {
				d.t.Fatalf("%s: %v", name, err)
			}
			found[name] = answer
		}
	}
	return found
}

func interpolate(expr string, picked map[string]string) string {
	expr = strings.ReplaceAll(expr, "$__rate_interval", "10s")
	for name, value := range picked {
		expr = strings.ReplaceAll(expr, "$"+name, value)
	}
	return expr
}

func (d dashboardRun) empty(found map[string]series) []string {
	var names []string
	for name, answer := range found {
		if len(answer) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// same compares up to rounding.
func same(a, b series) bool {
	return slices.Equal(a.labels(), b.labels()) && !slices.ContainsFunc(a.labels(), func(labels string) bool {
		return math.Abs(a[labels]-b[labels]) > 1e-9
	})
}

package incident

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

var scraped = time.Unix(1_764_500_000, 0)

func gauge(name string, value float64) Sample {
	return Sample{Name: name, Labels: map[string]string{"target": "redis"}, Value: value}
}

func state(at time.Duration, samples ...Sample) State {
	return State{At: at, Scraped: scraped, Samples: samples}
}

func parseSet(t *testing.T, series, value string) Sets {
	t.Helper()
	var sets Sets
	if err := sets.add(series, value); err != nil {
		t.Fatal(err)
	}
	return sets
}

func TestSeries(t *testing.T) {
	l := &Timeline{}
	success, failure := gauge("keyhealth_sweep_success", 1), gauge("keyhealth_sweep_success", 0)
	last := gauge("keyhealth_sweep_last_success_timestamp_seconds", 1_764_499_998) // two seconds ago
	l.Add(state(0, success, last, gauge("gone", 5), gauge("never_timestamp_seconds", 0)), parseSet(t, "used", "100"))
	l.Add(state(3*time.Minute, success, last, gauge("new", 1)), append(parseSet(t, "used", "+2/s"), parseSet(t, "new", "-1/s")...))
	l.Add(state(5*time.Minute, failure, last), nil)
	want := map[string]string{
		`keyhealth_sweep_success{target="redis"}`: "1+0x2 1+0x1 0+0x119",
		// It moves with time while sweeps succeed, and stands still from five minutes on.
		`keyhealth_sweep_last_success_timestamp_seconds{target="redis"}`: "-2+60x2 178+60x1 298+0x119",
		`gone{target="redis"}`:                    "5+0x2 stale _x1 stale _x119",
		`never_timestamp_seconds{target="redis"}`: "0+0x2 stale _x1 stale _x119",
		`new{target="redis"}`:                     "_x3 1-60x1 stale _x119",
		// The exporter has none; the slope keeps the value.
		`used{}`: "100+0x2 100+120x1 340+120x119",
		`new{}`:  "_x5 -120-60x119",
	}
	if got := l.series(); !reflect.DeepEqual(got, want) {
		t.Errorf("series:\n%v\nwant:\n%v", got, want)
	}
}

// TestPromtoolAnswers asks the real promtool about the shipped rules.
func TestPromtoolAnswers(t *testing.T) {
	promtool := redistest.Require(t, "promtool")
	l := &Timeline{}
	l.Add(state(0, gauge("keyhealth_up", 1)), nil)
	down := state(20*time.Minute, gauge("keyhealth_up", 0))
	down.Step = 1
	l.Add(down, nil)
	want := map[int][]Alert{1: {{"KeyhealthRedisDown", "critical", 20 * time.Minute, 23 * time.Minute}}}
	if got := l.ask(t, promtool); !reflect.DeepEqual(got, want) {
		t.Errorf("alerts %v, want %v", got, want)
	}
	if got := whole(want); got[0] != want[1][0] {
		t.Errorf("of the whole: %v", got)
	}
}

func TestReport(t *testing.T) {
	f := File{Name: "n", Path: "p.yaml", Start: Step{Expect: Expect{Fires: []string{"A", "B"}, Quiet: []string{"C"}, Exact: true}}}
	f.Steps = []Step{{At: Duration(time.Minute), Expect: Expect{Fires: []string{"A"}}}}
	alerts := []Alert{
		{"A", "warning", 0, 600 * time.Second},
		{"B", "warning", 0, -1},
		{"C", "critical", 0, 0},
		{"D", "info", 0, 0},
		{"E", "warning", 0, 0},
	}
	got := Result{File: f, Alerts: alerts, ByStep: map[int][]Alert{}, Metrics: []string{"m == 1: is 2"}}.Report(false)
	for _, line := range []string{
		"n (p.yaml)", "WRONG m == 1: is 2", "WRONG B should fire and does not", "WRONG C fires and should not",
		"WRONG E (warning) fires and nobody expects it", "WRONG step at 1m0s: A should fire and does not",
		"expected: fires [A B], quiet [C], exact true", "A (warning) at 10m0s", "B (warning) only pending, at 0s",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%q is not in:\n%s", line, got)
		}
	}
	if strings.Contains(got, "D (info) fires") || strings.Count(got, "WRONG") != 5 {
		t.Errorf("too much in:\n%s", got)
	}
	silent := Result{File: File{}, Alerts: alerts[3:4]}
	if silent.Report(false) != "" || !strings.Contains(silent.Report(true), "D (info) fires and nobody expects it") {
		t.Errorf("info in a healthy keyspace: %q, %q", silent.Report(false), silent.Report(true))
	}
}

package incident

// From a file to a result: Redis, exporter, virtual time, promtool.

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/exportertest"
	"keyhealth/internal/redistest"
)

const (
	alerts = "../../alerts"
	// promtoolTimeout bounds one run, which takes about a second.
	promtoolTimeout = 2 * time.Minute
)

// run plays a file to its end.
func run(t *testing.T, f File) Result {
	t.Helper()
	promtool := redistest.Require(t, "promtool")
	exportertest.Binary(t) // built before anything is measured
	redis := startServer(t, f.Server)
	result := Result{File: f}
	timeline := &Timeline{}
	var watched *exporter
	held := make(map[int]bool) // top-level conditions, by state
	for i, step := range f.states() {
		redis.change(t, step)
		stop := redis.traffic(t, step.Traffic)
		begin := time.Now()
		if i == 0 {
			watched = startExporter(t, f, redis.Server)
		}
		until := time.Duration(1<<63 - 1)
		if i < len(f.Steps) {
			until = time.Duration(f.Steps[i].At)
		}
		states := watched.settle(t, time.Duration(step.At), until)
		stop()
		if i == 0 {
			result.Detected = time.Since(begin)
		}
		seen := states[0].Samples
		for _, state := range states {
			state.Step = i
			timeline.Add(state, step.Set)
		}
		held[i] = len(misses(t, f.Start.Expect.Metrics, seen)) == 0
		if i > 0 {
			for _, miss := range misses(t, step.Expect.Metrics, seen) {
				result.Metrics = append(result.Metrics, "step at "+time.Duration(step.At).String()+": "+miss)
			}
		}
		if i == len(f.Steps) && !anyOf(held) {
			result.Metrics = append(result.Metrics, misses(t, f.Start.Expect.Metrics, seen)...)
		}
	}
	watched.end(t)
	result.ByStep = timeline.ask(t, promtool)
	result.Alerts = whole(result.ByStep)
	return result
}

func anyOf(held map[int]bool) bool {
	for _, yes := range held {
		if yes {
			return true
		}
	}
	return false
}

func misses(t *testing.T, conditions []string, samples []Sample) []string {
	t.Helper()
	found, err := Misses(conditions, samples)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// exporter is the keyhealth process of a story.
type exporter struct {
	*exportertest.Exporter
	swept float64 // sweeps that had ended when the last state began
}

func startExporter(t *testing.T, f File, redis *redistest.Server) *exporter {
	t.Helper()
	settings := exportertest.Settings{"REDIS_URL": redis.URL(), "SWEEP_INTERVAL": "1s"}
	if f.Config != "" {
		path := filepath.Join(t.TempDir(), "keyhealth.yml")
		if err := os.WriteFile(path, []byte(f.Config), 0o600); err != nil {
			t.Fatal(err)
		}
		settings["CONFIG_FILE"] = path
	}
	given := exportertest.Settings{}
	for name, value := range f.Env {
		given[strings.TrimPrefix(name, "KEYHEALTH_")] = value
	}
	maps.Copy(settings, given)
	return &exporter{Exporter: exportertest.Start(t, settings)}
}

// settle waits for a sweep that began after the state did, and scrapes. A target
// whose sweep fails is scraped again once the exporter has dropped what it knew,
// if the state lasts that long.
func (e *exporter) settle(t *testing.T, at, until time.Duration) []State {
	t.Helper()
	first := e.swept == 0
	need := 1.0
	if !first {
		// The one that runs may have begun before, so the next one counts.
		need = e.sweeps(t) + 2
	}
	metrics := e.Wait(t, "a sweep of the new state", func(m exportertest.Metrics) bool { return m.Is("keyhealth_sweeps_total", ">=", need) })
	state := e.state(t, at)
	e.swept = e.sweeps(t)
	states := []State{state}
	succeeded := metrics.Value(t, "keyhealth_sweep_last_success_timestamp_seconds")
	if state.live() || succeeded == 0 || at+staleAfter >= until {
		return states
	}
	stale := metrics.Value(t, "keyhealth_stale_after_seconds")
	e.Wait(t, "data to go stale", func(exportertest.Metrics) bool {
		return float64(time.Now().UnixMilli())/1e3 > succeeded+stale+0.1
	})
	return append(states, e.state(t, at+staleAfter))
}

func (e *exporter) sweeps(t *testing.T) float64 {
	t.Helper()
	return e.Scrape(t).Value(t, "keyhealth_sweeps_total")
}

func (e *exporter) state(t *testing.T, at time.Duration) State {
	t.Helper()
	_, body, err := e.Get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	samples, err := Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return State{At: at, Scraped: time.Now(), Samples: samples}
}

// end stops the exporter early: its sweeps would only cost the other stories time.
func (e *exporter) end(t *testing.T) {
	t.Helper()
	if code, _ := e.Terminate(t); code != 0 {
		t.Errorf("keyhealth ended with %d", code)
	}
}

// ask lets promtool evaluate the shipped rules over the timeline.
func (l *Timeline) ask(t *testing.T, promtool string) map[int][]Alert {
	t.Helper()
	ruleFiles, err := filepath.Glob(alerts + "/*.rules.yml")
	if err != nil || len(ruleFiles) == 0 {
		t.Fatalf("rules files: %v, %v", ruleFiles, err)
	}
	for i, name := range ruleFiles {
		if ruleFiles[i], err = filepath.Abs(name); err != nil {
			t.Fatal(err)
		}
	}
	text, err := l.promtoolTest(ruleFiles)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "story_test.yml")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), promtoolTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, promtool, "test", "rules", name).CombinedOutput()
	if err != nil && !strings.Contains(string(output), "got:") {
		t.Fatalf("promtool: %v\n%s", err, output)
	}
	return answers(string(output))
}

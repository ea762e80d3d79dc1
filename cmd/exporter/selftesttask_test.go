package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"

	"keyhealth/collector"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// watchSelfTests runs the watcher of a server and its self-test, for as long as
// the test runs or until stop.
func watchSelfTests(t *testing.T, server *redistest.Server, interval time.Duration) (w *watchers, log *logBuffer, stop func() error) {
	t.Helper()
	log = newLogBuffer()
	target := spec.Target{
		Name: "shop", SelfTest: interval, Sweep: spec.DefaultSweep(), MaxGroups: 10,
		Endpoint: spec.Endpoint{Network: "tcp", Address: server.Addr(), Timeout: time.Second},
	}
	w = newWatchers(slog.New(slog.NewTextHandler(log, nil)), []spec.Target{target})
	return w, log, start(t, w.Run)
}

// selfTestOf waits for an outcome that a function accepts.
func selfTestOf(t *testing.T, w *watchers, accepted func(collector.SelfTest) bool) collector.SelfTest {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if s := w.all()[0].Snapshot().SelfTest; s != nil && accepted(*s) {
			return *s
		}
	}
	t.Fatalf("the outcome is %+v", w.all()[0].Snapshot().SelfTest)
	return collector.SelfTest{}
}

func allAre(passed bool) func(collector.SelfTest) bool {
	return func(s collector.SelfTest) bool {
		return len(s.Checks) == 4 && !slices.ContainsFunc(s.Checks, func(c collector.SelfTestCheck) bool { return c.Passed != passed })
	}
}

func TestSelfTestsInServe(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		w, log, stop := watchSelfTests(t, server, 200*time.Millisecond)
		first := selfTestOf(t, w, allAre(true))
		log.waitFor(t, `level=INFO msg="The self-test of the limiter passes" target=shop`)
		want := `
			# HELP keyhealth_selftest_success 1 if the check of the limiter passed in the last self-test, 0 if it failed or could not be made.
			# TYPE keyhealth_selftest_success gauge
			keyhealth_selftest_success{check="cleanup",target="shop"} 1
			keyhealth_selftest_success{check="exact_limit",target="shop"} 1
			keyhealth_selftest_success{check="healing",target="shop"} 1
			keyhealth_selftest_success{check="ttl",target="shop"} 1
		`
		if err := testutil.CollectAndCompare(collector.Of(w.all), strings.NewReader(want), "keyhealth_selftest_success"); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"keyhealth_selftest_duration_seconds", "keyhealth_selftest_last_run_timestamp_seconds"} {
			if n := testutil.CollectAndCount(collector.Of(w.all), name); n != 1 {
				t.Errorf("%s has %d series", name, n)
			}
		}
		if first.Took <= 0 || time.Since(first.Ended) > time.Minute {
			t.Errorf("%+v", first)
		}
		selfTestOf(t, w, func(s collector.SelfTest) bool { return s.Ended.After(first.Ended) })

		server.Stop()
		selfTestOf(t, w, allAre(false))
		log.waitFor(t, `level=WARN msg="The self-test of the limiter fails" target=shop checks=exact_limit,ttl,healing,cleanup reason=`)
		server.Restart(t)
		selfTestOf(t, w, allAre(true))
		if err := stop(); err != nil {
			t.Error(err)
		}
		wantEmpty(t, server.Client(t))
		if n := strings.Count(log.String(), "The self-test of the limiter fails"); n > 2 { // cut in the middle, then unreachable
			t.Errorf("%d lines: %s", n, log)
		}
		if n := strings.Count(log.String(), "The self-test of the limiter passes"); n != 2 {
			t.Errorf("%d lines: %s", n, log)
		}
	})
}

// TestNoSelfTestUnlessAskedFor: serve writes nothing by itself.
func TestNoSelfTestUnlessAskedFor(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		w, _, stop := watchSelfTests(t, server, 0)
		for !w.Ready() {
			time.Sleep(time.Millisecond)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if n := testutil.CollectAndCount(collector.Of(w.all), "keyhealth_selftest_success", "keyhealth_selftest_duration_seconds", "keyhealth_selftest_last_run_timestamp_seconds"); n != 0 {
			t.Errorf("%d series", n)
		}
		if stats := server.Client(t).Info(t.Context(), "commandstats").Val(); strings.Contains(stats, "cmdstat_set:") || strings.Contains(stats, "cmdstat_eval") {
			t.Errorf("something was written: %s", stats)
		}
	})
}

// TestSelfTestStates: one line a change, and nothing of a turn that another
// exporter has.
func TestSelfTestStates(t *testing.T) {
	log, published := newLogBuffer(), []collector.SelfTest{}
	s := &selfTester{log: slog.New(slog.NewTextHandler(log, nil)), publish: func(o collector.SelfTest) { published = append(published, o) }}
	lost := runSelfTest(t.Context(), func(context.Context) (redis.UniversalClient, error) { return nil, errors.New("gone 'hunter2'") })
	busy := selfTested{}
	busy.Busy = true
	for _, tested := range []selfTested{busy, lost, lost, busy, lost} {
		s.note(tested)
	}
	if len(published) != 3 || !allAre(false)(published[0]) || strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), "hunter2") {
		t.Errorf("%d published, log: %s", len(published), log)
	}
}

// The self-test in serve: every KEYHEALTH_SELFTEST_INTERVAL, a target at a time,
// beside the watcher whose metrics it is shown with.

package main

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"keyhealth/collector"
	"keyhealth/collector/spec"
)

// selfTester runs the self-test of a target again and again.
type selfTester struct {
	interval time.Duration // 0: never
	dial     connect
	publish  func(collector.SelfTest)
	log      *slog.Logger
	said     string // the state that was logged last
}

func newSelfTester(target spec.Target, watcher *collector.Watcher, log *slog.Logger) *selfTester {
	return &selfTester{
		interval: target.SelfTest, dial: watcher.Client, publish: watcher.SetSelfTest,
		log: log.With("target", target.Name),
	}
}

// run tests until ctx ends, at once and then at each interval.
func (s *selfTester) run(ctx context.Context) {
	if s.interval == 0 {
		return
	}
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	for {
		tested := runSelfTest(ctx, s.dial)
		if ctx.Err() != nil {
			return
		}
		s.note(tested)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// note publishes an outcome, and logs where it is another one than before. While
// another exporter tests, its turn is as good as ours: the last figures stay.
func (s *selfTester) note(tested selfTested) {
	if tested.Busy && tested.err == nil {
		s.log.Debug("Another self-test of the limiter is running")
		return
	}
	outcome := tested.outcome()
	s.publish(outcome)
	var failed, details []string
	for _, check := range outcome.Checks {
		if !check.Passed {
			failed = append(failed, check.Name)
		}
	}
	for _, check := range tested.Checks {
		if !check.Passed {
			details = append(details, oneLine(check.Detail))
		}
	}
	if tested.err != nil {
		details = append(details, tidy(tested.err))
	}
	state := strings.Join([]string{"failed:", strings.Join(failed, ","), strings.Join(details, "; "), tested.Warning}, " ")
	if state == s.said {
		return
	}
	s.said = state
	switch {
	case len(details) > 0:
		s.log.Warn("The self-test of the limiter fails", "checks", strings.Join(failed, ","), "reason", strings.Join(details, "; "))
	case tested.Warning != "":
		s.log.Warn("The self-test of the limiter passes, with a warning", "warning", tested.Warning)
	default:
		s.log.Info("The self-test of the limiter passes")
	}
}

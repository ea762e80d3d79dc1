// What a watcher publishes in good and bad times: health at once, data until
// they are too old. When it sweeps is in watcher_test.go.

package collector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// TestInfoIsPublishedFirst: what INFO says does not wait for the keys.
func TestInfoIsPublishedFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Set(0, "page:a", 0)
		n.Delay("ping", 3*time.Millisecond)
		n.Delay("scan", 30*time.Second)
		w := watch(t, targetOf(t, ""), n)
		pass(time.Second)
		s := w.Snapshot()
		if !s.Health.Up || !s.Nodes[0].Up || s.Nodes[0].Ping != 3*time.Millisecond || s.Nodes[0].Info == nil {
			t.Errorf("INFO was answered and is not published: %+v %+v", s.Health, s.Nodes[0])
		}
		if s.Health.Sweeps != 0 || s.Health.Swept || s.Databases != nil || w.Ready() {
			t.Errorf("the sweep still runs: %+v", s.Health)
		}
		pass(time.Minute)
		if s = w.Snapshot(); s.Health.Sweeps != 1 || s.Databases == nil || !w.Ready() {
			t.Errorf("the sweep has ended: %+v", s.Health)
		}
	})
}

// TestHealth goes through good and bad times.
func TestHealth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 10, 0)
		n.Delay("ping", time.Millisecond)
		n.Script(fake.FailOn("connect", fake.CutError()))
		target := targetOf(t, "limit=limit:*@1h")
		target.Sweep.StaleAfter = time.Hour
		w := watch(t, target, n)
		for _, step := range []struct {
			name      string
			script    func(context.Context, fake.Call) error
			up, swept bool
			reason    string // of failures that were added
		}{
			{"down from the start", fake.FailOn("connect", fake.CutError()), false, false, source.ReasonUnreachable},
			{"up", nil, true, true, ""},
			{"still up", nil, true, true, ""},
			{"INFO but no keys", fake.FailOn("scan", source.Refusal("BUSY")), true, false, source.ReasonBusy},
			{"down again", fake.FailOn("connect", fake.CutError()), false, false, source.ReasonUnreachable},
			{"INFO refused", fake.FailOn("info", source.Refusal("LOADING")), false, false, source.ReasonLoading},
			{"broken in the middle", fake.FailOn("pttl", fake.CutError()), true, false, source.ReasonUnreachable},
			{"up again", nil, true, true, ""},
		} {
			synctest.Wait()
			for open, _ := n.Connections(); open > 0; open, _ = n.Connections() {
				pass(time.Second) // a sweep that has begun ends as the step before
			}
			before := w.Snapshot().Health
			n.Script(step.script)
			pass(time.Minute + 5*time.Second) // a back-off ends within an interval
			s := w.Snapshot()
			h := s.Health
			if h.Up != step.up || s.Nodes[0].Up != step.up || h.Swept != step.swept {
				t.Errorf("%s: up %v, node up %v, swept %v", step.name, h.Up, s.Nodes[0].Up, h.Swept)
			}
			if (s.Nodes[0].Ping > 0) != step.up {
				t.Errorf("%s: a PING of %v", step.name, s.Nodes[0].Ping)
			}
			if h.Sweeps <= before.Sweeps {
				t.Errorf("%s: %d sweeps, %d before", step.name, h.Sweeps, before.Sweeps)
			}
			for _, reason := range source.Reasons {
				if added := h.Failures[reason] - before.Failures[reason]; (reason == step.reason) != (added > 0) || added > h.Sweeps-before.Sweeps {
					t.Errorf("%s: %d failures by %s in %d sweeps", step.name, added, reason, h.Sweeps-before.Sweeps)
				}
			}
			if step.swept != h.LastSuccess.After(before.LastSuccess) {
				t.Errorf("%s: the last success was at %v, before at %v", step.name, h.LastSuccess, before.LastSuccess)
			}
			if (s.Databases == nil) != h.LastSuccess.IsZero() {
				t.Errorf("%s: the data are not those of the last success", step.name)
			}
		}
	})
}

// TestStale: data outlive failures until they are too old, then they are gone
// and the health stays; a success brings them back.
func TestStale(t *testing.T) {
	for name, test := range map[string]struct {
		scan       time.Duration
		staleAfter time.Duration // as configured
		want       time.Duration
	}{
		"three intervals":         {0, 0, 3 * time.Minute},
		"three times a slow scan": {100 * time.Second, 0, 300 * time.Second},
		"as configured":           {0, 100 * time.Second, 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Put(0, "page:%d", 10, 0)
				n.Delay("scan", test.scan)
				target := targetOf(t, "")
				target.Sweep.MemorySamples, target.Sweep.StaleAfter = 0, test.staleAfter
				w := watch(t, target, n)
				pass(test.scan + time.Millisecond)
				good := w.Snapshot()
				if good.Databases == nil || good.Health.StaleAfter != test.want {
					t.Fatalf("stale after %v, data: %v", good.Health.StaleAfter, good.Databases)
				}
				n.Script(func(context.Context, fake.Call) error { return fake.CutError() })
				pass(test.want - 2*time.Millisecond)
				s := w.Snapshot()
				if s.Health.Up || s.Health.Failures[source.ReasonUnreachable] == 0 {
					t.Fatal("no sweep has failed meanwhile")
				}
				if s.Nodes[0].Info == nil || s.Databases == nil || len(s.Groups) != len(good.Groups) {
					t.Error("the data are gone too soon")
				}
				pass(2 * time.Millisecond)
				s = w.Snapshot()
				if s.Nodes[0].Info != nil || s.Databases != nil || s.Groups != nil {
					t.Error("the data are too old and still there")
				}
				if s.Health.LastSuccess != good.Health.LastSuccess || s.Health.Sweeps < 2 || s.Health.Failures[source.ReasonUnreachable] == 0 || s.Health.StaleAfter != test.want {
					t.Errorf("the health went with the data: %+v", s.Health)
				}
				n.Script(nil)
				pass(test.scan + 2*time.Minute)
				if s = w.Snapshot(); s.Nodes[0].Info == nil || s.Databases == nil || s.Groups == nil || !s.Health.Swept {
					t.Error("the data did not come back")
				}
			})
		})
	}
}

// TestStaleDataOfANodeThatAnswers: INFO stays fresh while the keys cannot be
// met; only what a sweep found is withdrawn.
func TestStaleDataOfANodeThatAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "page:%d", 10, 0)
		w := watch(t, targetOf(t, ""), n)
		pass(time.Second)
		n.Script(fake.FailOn("scan", source.Refusal("BUSY")))
		pass(10 * time.Minute)
		if s := w.Snapshot(); s.Nodes[0].Info == nil || !s.Health.Up || s.Databases != nil || s.Groups != nil {
			t.Errorf("info %v, databases %v", s.Nodes[0].Info != nil, s.Databases)
		}
	})
}

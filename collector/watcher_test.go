// When a watcher sweeps, on a clock of the test's own. What it publishes is in
// watcher_state_test.go, how it ends in watcher_end_test.go.

package collector

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/sweep"
)

// watched is a watcher that runs, and what it logs.
type watched struct {
	*Watcher
	node   *fake.Node
	lines  bytes.Buffer
	cancel context.CancelFunc
	done   chan error
}

// watch starts a watcher that is stopped when the test ends.
func watch(t *testing.T, target spec.Target, n *fake.Node) *watched {
	w := &watched{node: n, done: make(chan error, 1)}
	w.Watcher = watcherOf(target, n, slog.New(slog.NewTextHandler(&w.lines, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go func() { w.done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-w.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		w.done <- nil
	})
	return w
}

// watcherOf is a watcher whose random choices are always the same.
func watcherOf(target spec.Target, n *fake.Node, log *slog.Logger) *Watcher {
	target.Endpoint.Address = n.Name()
	topology := source.NewTopology(target, func(spec.Endpoint, string) source.Node { return n })
	return newWatcher(target, sweep.NewFleet(target, topology, 1), n.Sent, log)
}

// log is what was logged since it was last asked for, a line each.
func (w *watched) log() []string {
	lines := strings.Split(strings.TrimSuffix(w.lines.String(), "\n"), "\n")
	w.lines.Reset()
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// starts are the times from the first sweep's start to that of each, the first
// one's since began.
func starts(n *fake.Node, began time.Time) (since []time.Duration) {
	for _, call := range n.Log("connect") {
		since = append(since, call.At.Sub(began))
	}
	return since
}

func TestSchedule(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 10, 0) // a sweep takes 2 to 3 s
		began := time.Now()
		watch(t, targetOf(t, "limit=limit:*@1h"), n)
		pass(10 * time.Minute)
		at := starts(n, began)
		if at[0] != 0 {
			t.Errorf("the first sweep began after %v", at[0])
		}
		if at[1] < 30*time.Second || at[1] > time.Minute {
			t.Errorf("the second sweep began after %v", at[1])
		}
		for i := 2; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap != time.Minute {
				t.Errorf("sweep %d began %v after the one before", i+1, gap)
			}
		}
		if len(at) < 10 {
			t.Errorf("%d sweeps in ten minutes", len(at))
		}
	})
}

// TestPhase: the same target always begins its second sweep at the same moment,
// different ones at different moments.
func TestPhase(t *testing.T) {
	seen := map[time.Duration]string{}
	for _, name := range []string{"shop", "login", "api", "shop"} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			target := targetOf(t, "")
			target.Name = name
			began := time.Now()
			watch(t, target, n)
			pass(time.Minute)
			second := starts(n, began)[1]
			if other, taken := seen[second]; taken != (name == other) {
				t.Errorf("%s and %s begin their second sweep after %v", name, other, second)
			}
			seen[second] = name
		})
	}
	if len(seen) != 3 {
		t.Errorf("the phases are not those of the names: %v", seen)
	}
}

func TestLongSweepDelaysTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Set(0, "page:a", 0)
		n.Delay("scan", 100*time.Second)
		began := time.Now()
		watch(t, targetOf(t, ""), n)
		pass(950 * time.Second)
		for i, at := range starts(n, began) {
			if want := time.Duration(i) * 100 * time.Second; at != want {
				t.Errorf("sweep %d began after %v, want %v", i+1, at, want)
			}
		}
		if _, most := n.Connections(); most != 1 {
			t.Errorf("%d sweeps at a time", most)
		}
	})
}

// TestBackoff: a node that is down is tried again soon, then less and less
// often, and never less often than the interval; never in step with others.
func TestBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Script(func(_ context.Context, call fake.Call) error {
			if call.Command == "connect" {
				return fake.CutError()
			}
			return nil
		})
		began := time.Now()
		w := watch(t, targetOf(t, ""), n)
		pass(10 * time.Minute)
		at := starts(n, began)
		backoff, parts := time.Second, map[time.Duration]bool{}
		for i := 1; i < len(at); i++ {
			gap := at[i] - at[i-1]
			if gap < backoff/2 || gap > backoff {
				t.Errorf("attempt %d came after %v, want %v to %v", i+1, gap, backoff/2, backoff)
			}
			parts[gap*1000/backoff] = true
			backoff = min(2*backoff, time.Minute)
		}
		if len(at) < 14 || len(parts) < len(at)/2 {
			t.Errorf("%d attempts, no two at the same part of their back-off would be %d: %d", len(at), len(at)-1, len(parts))
		}

		n.Script(nil)
		pass(time.Minute)
		if !w.Snapshot().Health.Swept {
			t.Fatal("the node is up again and was not swept within an interval")
		}
		n.Forget()
		pass(3 * time.Minute)
		at = starts(n, began)
		if len(at) != 3 || at[2]-at[1] != time.Minute {
			t.Errorf("after the recovery sweeps begin after %v", at)
		}
	})
}

// TestRefusalIsRetriedAtTheInterval: a node that answers is not asked sooner
// because it refuses something, whatever went wrong before.
func TestRefusalIsRetriedAtTheInterval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		first := true
		n.Script(func(_ context.Context, call fake.Call) error {
			switch {
			case call.Command == "connect" && first:
				first = false
				return fake.CutError()
			case call.Command == "info":
				return nil
			case call.Command == "scan":
				return source.Refusal("NOPERM")
			}
			return nil
		})
		n.Set(0, "page:a", 0)
		began := time.Now()
		watch(t, targetOf(t, ""), n)
		pass(5 * time.Minute)
		at := starts(n, began)
		for i := 2; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap != time.Minute {
				t.Errorf("sweep %d began %v after the one before", i+1, gap)
			}
		}
		if len(at) != 6 {
			t.Errorf("%d sweeps in five minutes", len(at))
		}
	})
}

// TestTooLongSweepIsRetriedAtTheInterval: a sweep that would take too long again
// is no reason for more of them.
func TestTooLongSweepIsRetriedAtTheInterval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Script(func(ctx context.Context, call fake.Call) error {
			if call.Command == "scan" {
				<-ctx.Done()
				return fake.CutError()
			}
			return nil
		})
		n.Set(0, "page:a", 0)
		target := targetOf(t, "")
		target.Sweep.Timeout = 5 * time.Second
		began := time.Now()
		watch(t, target, n)
		pass(4 * time.Minute)
		if at := starts(n, began); len(at) > 5 {
			t.Errorf("%d sweeps in four minutes", len(at))
		}
	})
}

// TestNothingBeforeRun: a watcher that does not run yet has dialled nothing.
func TestNothingBeforeRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		w := watcherOf(targetOf(t, ""), n, silentLog())
		pass(time.Hour)
		if len(n.Log("")) > 0 || w.Ready() || w.Snapshot().Health.Up {
			t.Error("something happened before Run")
		}
		synctest.Wait()
	})
}

// How a watcher ends, in whatever it does, and what its readers see until then.
// What it logs is in watcher_log_test.go.

package collector

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/sweep"
	"keyhealth/collector/tally"
)

// TestCancel ends Run in each phase: at once, with no error, the connection
// closed, nothing published, and no goroutine left (or the bubble would fail).
func TestCancel(t *testing.T) {
	hangs := func(command string) func(*fake.Node) {
		return func(n *fake.Node) {
			n.Script(func(ctx context.Context, call fake.Call) error {
				if call.Command == command {
					return fake.Hang(ctx)
				}
				return nil
			})
		}
	}
	for name, phase := range map[string]struct {
		after time.Duration
		setUp func(*fake.Node)
		doing string // the last command then
	}{
		"dial":              {time.Second, hangs("connect"), "connect"},
		"PING":              {time.Second, hangs("ping"), "ping"},
		"INFO":              {time.Second, hangs("info"), "info"},
		"SCAN":              {time.Second, hangs("scan"), "scan"},
		"PTTL":              {time.Second, hangs("pttl"), "pttl"},
		"TIME":              {10 * time.Second, hangs("time"), "time"},
		"MEMORY USAGE":      {10 * time.Second, hangs("memory"), "memory"},
		"pause of a walk":   {5 * time.Second, func(n *fake.Node) { n.Delay("scan", time.Second) }, "pttl"},
		"rest of a walk":    {15 * time.Second, func(n *fake.Node) { n.Say("redis_version", "8.0.0"); n.Delay("scan", 250*time.Millisecond) }, "pttl"},
		"before a look":     {1900 * time.Millisecond, func(*fake.Node) {}, "info"},
		"before a third":    {3500 * time.Millisecond, func(*fake.Node) {}, "pttl"},
		"between sweeps":    {25 * time.Second, func(*fake.Node) {}, "memory"},
		"back-off":          {2 * time.Second, func(n *fake.Node) { n.Script(fake.FailOn("connect", fake.CutError())) }, "connect"},
		"before it started": {0, func(*fake.Node) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Put(0, "limit:%d", 500, 0)
				phase.setUp(n)
				w := watcherOf(targetOf(t, "limit=limit:*"), n, silentLog())
				ctx, cancel := context.WithCancel(t.Context())
				if phase.after == 0 {
					cancel()
				}
				done := make(chan error, 1)
				go func() { done <- w.Run(ctx) }()
				pass(phase.after)
				if calls := n.Log(""); phase.doing != "" && calls[len(calls)-1].Command != phase.doing {
					t.Errorf("the last command was %s: not the phase meant", calls[len(calls)-1].Command)
				}
				before, asked := w.Snapshot(), time.Now()
				cancel()
				if err := <-done; err != nil {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(asked); took > 0 {
					t.Errorf("took %v to end", took)
				}
				if open, _ := n.Connections(); open != 0 {
					t.Error("the connection was left open")
				}
				if after := w.Snapshot(); after.Health.Sweeps != before.Health.Sweeps || after.Health.Failures[source.ReasonUnreachable] != before.Health.Failures[source.ReasonUnreachable] {
					t.Error("the end counts as a sweep")
				}
			})
		})
	}
}

// TestCancelWaitsForTheSweep: when Run has returned, the sweep has too.
func TestCancelWaitsForTheSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Script(func(ctx context.Context, call fake.Call) error {
			if call.Command == "scan" {
				_ = fake.Hang(ctx)
				time.Sleep(50 * time.Millisecond) // the sweep is slow to notice
				return fake.CutError()
			}
			return nil
		})
		n.Set(0, "page:a", 0)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := watcherOf(targetOf(t, ""), n, silentLog()).Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if open, _ := n.Connections(); open != 0 {
			t.Error("Run returned before its sweep")
		}
	})
}

// TestCancelDuringTheLastAnswer: the end and the sweep's outcome come together.
func TestCancelDuringTheLastAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for range 50 {
			n := fake.NewNode(t)
			ctx, cancel := context.WithCancel(t.Context())
			n.Script(func(_ context.Context, call fake.Call) error {
				if call.Command == "scan" {
					cancel()
					return fake.CutError()
				}
				return nil
			})
			n.Set(0, "page:a", 0)
			w := watcherOf(targetOf(t, ""), n, silentLog())
			if err := w.Run(ctx); err != nil {
				t.Fatalf("Run: %v", err)
			}
			if s := w.Snapshot(); s.Health.Sweeps != 0 {
				t.Fatalf("the end counts as a sweep: %+v", s.Health)
			}
		}
	})
}

// TestFailureRightAfterInfo: the two reach Run together, in whatever order; the
// node has answered.
func TestFailureRightAfterInfo(t *testing.T) {
	for range 30 {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			n.Say("redis_mode", "cluster")
			w := watch(t, targetOf(t, ""), n)
			pass(25 * time.Second) // no back-off is that long so soon
			if s := w.Snapshot(); s.Health.Sweeps != 1 || !s.Health.Up || s.Nodes[0].Info == nil || s.Health.Failures[source.ReasonCluster] != 1 {
				t.Fatalf("%+v", s.Health)
			}
		})
	}
}

// TestReadersSeeWholeSnapshots: sweep k of this test finds k keys, every third
// one fails; whatever a reader gets is the state after one of them.
func TestReadersSeeWholeSnapshots(t *testing.T) {
	n := fake.NewNode(t)
	w := watcherOf(targetOf(t, "limit=limit:*@1h"), n, silentLog())
	stop, failed := make(chan struct{}), make(chan string, 4)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if what := torn(w.Snapshot()); what != "" {
					failed <- what
					return
				}
			}
		})
	}
	described := classify.New(w.target.Rules, nil)
	pools := estimate.NewPools(w.target.Sweep)
	for k := range 600 {
		nth := k + 1
		w.greeted(sweep.Greeting{Node: n.Name(), Info: source.Info{}, Ping: time.Duration(nth)})
		visited := sweep.Visit{Node: n.Name(), Shard: n.Name(), Info: &source.Info{}, Swept: true, Err: fake.CutError()}
		if nth%3 == 0 {
			w.finished(outcome{visits: []sweep.Visit{visited}, took: time.Duration(nth)})
			continue
		}
		c := tally.Counting{Classifier: described, Suspects: tally.NewStore(rand.New(rand.NewPCG(1, 1)), tally.LimitedTo)}
		d := c.NewDatabase(0, true)
		d.Walked, d.Share = true, 1
		for range nth {
			c.Add(d, tally.Meeting{Name: "limit:a", TTL: 1000})
		}
		result := &sweep.Result{Counted: estimate.Counted{Databases: []*tally.Database{d}}, Examined: int64(nth), Share: 1}
		result.Counted.Settle(pools, &c, time.Now())
		visited.Result, visited.Err = result, nil
		w.finished(outcome{visits: []sweep.Visit{visited}, took: time.Duration(nth)})
	}
	close(stop)
	readers.Wait()
	close(failed)
	for what := range failed {
		t.Error(what)
	}
}

// torn says what does not fit together in a snapshot of that test.
func torn(s *Snapshot) string {
	h := s.Health
	var failures uint64
	for _, n := range h.Failures {
		failures += n
	}
	switch {
	case failures != h.Sweeps/3:
		return "failures and sweeps were not counted together"
	case h.Sweeps > 0 && h.Duration != time.Duration(h.Sweeps):
		return "the duration is not that of the last sweep"
	case h.Sweeps > 0 && h.Swept != (h.Sweeps%3 != 0):
		return "the success is not that of the last sweep"
	}
	success := h.Sweeps // the last successful one
	if h.Sweeps%3 == 0 && h.Sweeps > 0 {
		success--
	}
	if success > 0 && (h.Examined != int64(success) || s.Groups[0].Keys != float64(success)) {
		return "sweeps were not counted together with their data's publication"
	}
	return ""
}

// TestScrapesWhileSweeping: many readers of a running watcher, for the race
// detector.
func TestScrapesWhileSweeping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 1000, 0)
		w := watch(t, targetOf(t, "limit=limit:*@1h"), n)
		c := New(w.Watcher)
		for range 4 {
			go func() {
				for range 60 {
					gather(t, c)
					if sleep(t.Context(), 5*time.Second) != nil {
						return
					}
				}
			}()
		}
		pass(6 * time.Minute)
	})
}

package collector

import (
	"context"
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/spec"
)

// rareNode has 20,000 keys of a cache and 20 of a limiter, all without TTL.
func rareNode(t *testing.T) (*fake.Node, spec.Target) {
	n := fake.NewNode(t)
	n.Put(0, "cache:%d", 20_000, 24*time.Hour)
	n.Put(0, "limit:%d", 20, 0)
	n.Sections[0].Fields = append(n.Sections[0].Fields, "run_id:1")
	target := targetOf(t, "limit=limit:*@60s")
	target.Sweep.MaxKeys, target.Sweep.FullEvery = 1000, time.Hour
	return n, target
}

// limitOf is the group of the limiter in the latest snapshot.
func limitOf(w *watched) estimate.Group {
	for _, g := range w.Snapshot().Groups {
		if g.Name == "limit" {
			return g
		}
	}
	return estimate.Group{}
}

// TestFullWalk: a group too rare to sample is exact after a full walk, and its
// age is told; samples go on meanwhile, at their interval.
func TestFullWalk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, target := rareNode(t)
		w := watch(t, target, n)
		pass(30 * time.Second)
		if g := limitOf(w); g.Keys == 20 && g.Examined == 20 {
			t.Fatal("the first sample met every key: it shows nothing")
		}
		pass(10 * time.Minute)
		g, ended := limitOf(w), w.Snapshot().Health.LastFullWalk
		if g.Keys != 20 || g.Examined != 20 || g.Zombies.Keys != 20 || g.Zombies.Interval != (estimate.Interval{Lower: 1, Upper: 1}) {
			t.Errorf("after a full walk %+v, %+v", g, g.Zombies)
		}
		if ended.IsZero() || ended.Sub(g.Oldest).Abs() > time.Second || time.Since(g.Oldest) < time.Minute {
			t.Errorf("the walk ended at %v, its figures are of %v, now it is %v", ended, g.Oldest, time.Now())
		}
		if sweeps := w.Snapshot().Health.Sweeps; sweeps < 11 || sweeps > 12 {
			t.Errorf("%d sweeps in ten minutes", sweeps)
		}
		pass(45 * time.Minute)
		if w.Snapshot().Health.LastFullWalk != ended {
			t.Error("another one began too early")
		}
		pass(20 * time.Minute)
		if again := w.Snapshot().Health.LastFullWalk; again.Sub(ended) < 55*time.Minute || again.Sub(ended) > 65*time.Minute {
			t.Errorf("full walks ended at %v and %v", ended, again)
		}
	})
}

// TestFullWalkContradicted: what samples since a full walk speak against counts no
// longer.
func TestFullWalkContradicted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, target := rareNode(t)
		n.Put(0, "limit:more:%d", 480, 0)
		w := watch(t, target, n)
		pass(10 * time.Minute)
		if z := limitOf(w).Zombies; z.Keys != 500 {
			t.Fatalf("%+v", z)
		}
		n.Put(0, "limit:%d", 20, time.Hour)
		n.Put(0, "limit:more:%d", 480, time.Hour)
		pass(12 * time.Minute) // as long as samples are pooled
		if g := limitOf(w); g.Zombies.Keys != 0 || g.Zombies.Interval.Upper == 0 || g.Keys < 300 {
			t.Errorf("twelve minutes after all were healed: %+v, %+v", g, g.Zombies)
		}
		n.Flush()
		n.Put(0, "cache:%d", 20_000, 24*time.Hour)
		pass(12 * time.Minute)
		if g := limitOf(w); g.Keys > 0 {
			t.Errorf("twelve minutes after the group was emptied: %+v", g)
		}
	})
}

// TestFullWalkOutlived: keys that are gone do not come back, however few they were,
// and what was contradicted once is not believed again.
func TestFullWalkOutlived(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, target := rareNode(t)
		n.Put(0, "limit:more:%d", 180, 0)
		w := watch(t, target, n)
		pass(10 * time.Minute)
		if z := limitOf(w).Zombies; z.Keys != 200 {
			t.Fatalf("%+v", z)
		}
		for i := range 180 {
			n.Remove(0, fmt.Sprintf("limit:more:%d", i))
			n.Remove(0, fmt.Sprintf("limit:%d", i))
		}
		pass(12 * time.Minute)
		for range 20 {
			pass(time.Minute)
			if g := limitOf(w); g.Keys > 0 || g.Zombies.Keys > 0 {
				t.Fatalf("twelve minutes after the keys were removed: %+v, %+v", g, g.Zombies)
			}
		}
	})
}

// TestFullWalkResumes after its connection broke, but not on another process:
// there its cursor means nothing.
func TestFullWalkResumes(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			n, target := rareNode(t)
			w := watch(t, target, n)
			pass(50 * time.Second) // between the first sample and the full walk
			n.Forget()
			scans, cut := 0, false
			n.Script(func(_ context.Context, call fake.Call) error {
				if call.Command != "scan" || len(call.Cursors) != 1 {
					return nil // a sample's
				}
				if scans++; scans == 100 {
					cut = true
					if restarted {
						n.Say("run_id", "2")
					}
					return fake.CutError()
				}
				return nil
			})
			pass(10 * time.Minute)
			full := w.Snapshot().Health.LastFullWalk
			if !cut {
				t.Fatal("no full walk was cut")
			}
			met := map[string]int{}
			for _, call := range n.Log("scan") {
				if len(call.Cursors) == 1 && len(call.Pages) == 1 {
					for _, name := range call.Pages[0].Names {
						met[name]++
					}
				}
			}
			twice := 0
			for _, times := range met {
				if times > 1 {
					twice++
				}
			}
			if full.IsZero() || len(met) != 20_020 || restarted != (twice > 5000) {
				t.Errorf("restarted %v: ended at %v, %d keys met, %d more than once", restarted, full, len(met), twice)
			}
			if g := limitOf(w); g.Zombies.Keys != 20 {
				t.Errorf("restarted %v: %+v", restarted, g.Zombies)
			}
		})
	}
}

// TestFullWalkEnds with the watcher, wherever it is.
func TestFullWalkEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, target := rareNode(t)
		w := watch(t, target, n)
		pass(61 * time.Second)
		w.cancel()
		pass(time.Second)
		if open, _ := n.Connections(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}

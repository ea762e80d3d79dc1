// Slots move between the nodes of a Cluster while it is swept, on real servers.

package collector

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"keyhealth/collector/source"
	"keyhealth/internal/redistest"
)

// The keys of a reshard are in few slots, so that a slot that is counted twice
// or not at all shows.
const (
	reshardKeys = 12_000
	reshardTags = 48
)

func tagged(i int) string { return fmt.Sprintf("limit:{t%d}:%d", i%reshardTags, i) }

// logged collects what a watcher logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) lines(level string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, "level="+level) {
			found = append(found, line)
		}
	}
	return found
}

// loudly is running, with the log of the watcher.
func loudly(t *testing.T, w *Watcher) *logged {
	t.Helper()
	log := &logged{}
	w.log = slog.New(slog.NewTextHandler(log, nil))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return log
}

// reshard is a Cluster whose slots move while every snapshot is judged.
type reshard struct {
	t       *testing.T
	cluster *redistest.Cluster
	mover   *redistest.Mover
	w       *Watcher
	log     *logged
	where   map[int]*redistest.Server // the slots with keys
	judged  map[uint64]bool           // sweeps that succeeded
}

func startReshard(t *testing.T, binary string) *reshard {
	t.Helper()
	r := &reshard{t: t, cluster: redistest.StartClusterBinary(t, binary, 3), where: map[int]*redistest.Server{}, judged: map[uint64]bool{}}
	r.cluster.Fill(t, reshardKeys, tagged)
	for i := range reshardTags {
		slot := source.SlotOf(tagged(i))
		r.where[slot] = r.cluster.Node(slot)
	}
	return r
}

// judge wants the exact figures in every snapshot that has some, whatever moves.
func (r *reshard) judge(s *Snapshot) {
	r.t.Helper()
	if what := exact(s, reshardKeys); what != "" {
		r.t.Fatalf("sweep %d: %s", s.Health.Sweeps, what)
	}
	if s.Health.Swept {
		r.judged[s.Health.Sweeps] = true
	}
}

// await judges snapshots until a number of sweeps have succeeded in all.
func (r *reshard) await(what string, wanted func(*Snapshot) bool) {
	r.t.Helper()
	eventually(r.t, r.w, what, func(s *Snapshot) bool {
		r.judge(s)
		return wanted(s)
	})
}

// move moves slots one by one, pages of keys at a time, and judges in between.
func (r *reshard) move(slots []int, to *redistest.Server) {
	r.t.Helper()
	ctx := r.t.Context()
	for _, slot := range slots {
		from := r.where[slot]
		if err := r.mover.Begin(ctx, slot, from, to); err != nil {
			r.t.Fatal(err)
		}
		for {
			moved, err := r.mover.Keys(ctx, slot, from, to, 50)
			if err != nil {
				r.t.Fatal(err)
			}
			r.judge(r.w.Snapshot())
			if moved == 0 {
				break
			}
		}
		if err := r.mover.End(ctx, slot, to); err != nil {
			r.t.Fatal(err)
		}
		r.where[slot] = to
		_ = sleep(ctx, 200*time.Millisecond) // so that slots move in all parts of a sweep
	}
}

// TestReshard: a node is added to a Cluster that is swept again and again, slots
// with a quarter of the keys move to it and then away, and it is removed. No
// snapshot counts a key twice or misses one.
func TestReshard(t *testing.T) {
	redistest.Run(t, "reshard", func(t *testing.T, binary string) {
		r := startReshard(t, binary)
		r.w = NewWatcher(clusterTarget(t, r.cluster.Nodes[0]), silentLog())
		r.log = loudly(t, r.w)
		eventually(t, r.w, "swept", sweptWell(0))
		added := r.cluster.AddNode(t)
		r.mover = redistest.NewMover(t, append(r.cluster.Nodes, added))
		home := maps.Clone(r.where)
		slots := slices.Sorted(maps.Keys(home))[:reshardTags/4]
		r.move(slots, added)
		r.settle("the new node swept", func(s *Snapshot) bool { return sweptOn(s, added.Addr()) })
		for _, slot := range slots {
			r.move([]int{slot}, home[slot])
		}
		r.cluster.RemoveNode(t, added)
		r.settle("the new node gone", func(s *Snapshot) bool {
			return !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Name == added.Addr() })
		})
		s := r.w.Snapshot()
		t.Logf("%d sweeps, %d of them succeeded, %d error lines", s.Health.Sweeps, len(r.judged), len(r.log.lines("ERROR")))
		states := 1 + 2*int(s.Health.Sweeps-uint64(len(r.judged)))
		if errors := r.log.lines("ERROR"); len(errors) > states {
			t.Errorf("%d error lines:\n%s", len(errors), errors)
		}
	})
}

// settle wants the second sweep that begins after the last move to be right.
func (r *reshard) settle(what string, wanted func(*Snapshot) bool) {
	r.t.Helper()
	swept := r.w.Snapshot().Health.Sweeps
	r.await(what, func(s *Snapshot) bool {
		if right := s.Health.Swept && wanted(s); !right && s.Health.Sweeps >= swept+3 {
			r.t.Fatalf("not %s two sweeps after it: %+v\n%s", what, s.Health, r.log.lines("ERROR"))
		}
		return s.Health.Sweeps >= swept+3
	})
}

// TestHalfMigratedSlot: a slot that somebody left open, half of its keys on
// either node, as an interrupted reshard does. All keys are there once.
func TestHalfMigratedSlot(t *testing.T) {
	redistest.Run(t, "ask", func(t *testing.T, binary string) {
		c := redistest.StartClusterBinary(t, binary, 3)
		c.Fill(t, reshardKeys, tagged)
		slot := source.SlotOf(tagged(0))
		from := c.Node(slot)
		to := c.Node((slot + source.HashSlots/3) % source.HashSlots)
		m := redistest.NewMover(t, c.Nodes)
		if err := m.Begin(t.Context(), slot, from, to); err != nil {
			t.Fatal(err)
		}
		if moved, err := m.Keys(t.Context(), slot, from, to, reshardKeys/reshardTags/2); err != nil || moved == 0 {
			t.Fatal(moved, err)
		}
		w := NewWatcher(clusterTarget(t, c.Nodes[0]), silentLog())
		log := loudly(t, w)
		s := eventually(t, w, "swept twice", func(s *Snapshot) bool { return s.Health.Sweeps >= 2 })
		if what := exact(s, reshardKeys); what != "" || !s.Health.Swept {
			t.Errorf("%s; %+v\n%s", what, s.Health, log.lines("ERROR"))
		}
	})
}

// When to sweep, and what to publish when: the only file in which time passes
// by itself. A sweep runs in a child of Run's goroutine; readers never wait for it.

package collector

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/sweep"
)

// Watcher sweeps one target again and again and keeps the last snapshot.
type Watcher struct {
	target spec.Target
	log    *slog.Logger
	fleet  *sweep.Fleet
	sent   *source.CommandCounts
	latest atomic.Pointer[Snapshot]

	publishing sync.Mutex
	selfTest   *SelfTest // comes from outside of Run

	// What follows belongs to Run's goroutine.
	state    Snapshot             // the next snapshot, before it is published
	nodes    map[string]*lastNode // what is known of each node
	shards   map[string]lastShard // what the last good sweep of each found
	known    int                  // shards that there are
	slots    int                  // and slots
	figured  time.Time            // when the oldest sweep behind the figures ended
	answered bool                 // some node has answered INFO in the running sweep
	failed   int                  // sweeps in a row that did not reach a node, or lost it
	noticed  noticed
}

// NewWatcher prepares the watcher of a target; nothing is dialled before Run.
func NewWatcher(target spec.Target, log *slog.Logger) *Watcher {
	sent := source.NewCommandCounts()
	dial := func(endpoint spec.Endpoint, name string) source.Node { return source.NewServer(endpoint, name, sent) }
	return newWatcher(target, sweep.NewFleet(target, source.NewTopology(target, dial), rand.Uint64()), sent, log)
}

func newWatcher(target spec.Target, fleet *sweep.Fleet, sent *source.CommandCounts, log *slog.Logger) *Watcher {
	w := &Watcher{
		target:  target,
		log:     log.With("target", target.Name),
		fleet:   fleet,
		sent:    sent,
		nodes:   map[string]*lastNode{},
		shards:  map[string]lastShard{},
		noticed: noticed{refused: map[string]bool{}},
	}
	failures := map[string]uint64{}
	for _, reason := range source.Reasons {
		failures[reason] = 0
	}
	w.state = Snapshot{Target: target.Name, Health: Health{Interval: target.Sweep.Interval, Failures: failures}}
	if target.Sentinel == nil { // a Sentinel's address is no node
		w.node(target.Endpoint.Address).Sweep = new(bool)
	}
	w.state.Health.StaleAfter = w.staleAfter()
	w.publish()
	return w
}

// Snapshot is the latest state; it never changes and is never nil.
func (w *Watcher) Snapshot() *Snapshot { return w.latest.Load() }

// Ready is true once a first sweep was attempted, even if it failed.
func (w *Watcher) Ready() bool { return w.Snapshot().Health.Sweeps > 0 }

// outcome is how a sweep ended.
type outcome struct {
	visits []sweep.Visit
	err    error // the nodes could not be found
	took   time.Duration
}

// Run sweeps until ctx ends; it returns nil then, with every connection closed
// and no goroutine left. It is called once.
func (w *Watcher) Run(ctx context.Context) error {
	greetings, outcomes := make(chan sweep.Greeting), make(chan outcome, 1)
	next, stale := time.NewTimer(0), time.NewTimer(w.target.Sweep.Interval)
	defer next.Stop()
	defer stale.Stop()
	defer w.fleet.Wait()
	greeted := func(hello sweep.Greeting) {
		select {
		case greetings <- hello:
		case <-ctx.Done(): // nobody listens any more
		}
	}
	var started time.Time
	sweeping := false
	for {
		select {
		case <-ctx.Done():
			if sweeping {
				<-outcomes
			}
			return nil
		case <-next.C:
			started, sweeping, w.answered = time.Now(), true, false
			go func() {
				visits, err := w.fleet.Sweep(ctx, greeted)
				outcomes <- outcome{visits, err, time.Since(started)}
			}()
		case hello := <-greetings:
			w.greeted(hello)
		case done := <-outcomes:
			sweeping = false
			if ctx.Err() != nil {
				return nil
			}
			w.finished(done)
			w.fleet.WalkFully(ctx)
			next.Reset(w.pause(started))
		case <-stale.C:
		}
		stale.Reset(w.dropStale())
	}
}

// publish makes the state the latest snapshot. The maps are copied, everything
// else in it is replaced and never changed.
func (w *Watcher) publish() {
	snapshot := w.state
	snapshot.Nodes = nil
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		snapshot.Nodes = append(snapshot.Nodes, w.nodes[name].Node)
	}
	snapshot.Health.Commands = w.sent.Snapshot()
	snapshot.Health.Failures = maps.Clone(w.state.Health.Failures)
	w.publishing.Lock()
	defer w.publishing.Unlock()
	snapshot.SelfTest = w.selfTest
	w.latest.Store(&snapshot)
}

// staleAfter is how old data may get.
func (w *Watcher) staleAfter() time.Duration {
	if w.target.Sweep.StaleAfter > 0 {
		return w.target.Sweep.StaleAfter
	}
	longest := w.target.Sweep.Interval
	if w.state.Health.Swept {
		longest = max(longest, w.state.Health.Duration)
	}
	return 3 * longest
}

// pause is the wait before the next sweep: the rest of the interval from start
// to start. The second sweep comes earlier, by a part of the interval that
// depends on the target's name, so that many targets do not sweep in step.
func (w *Watcher) pause(started time.Time) time.Duration {
	interval := w.target.Sweep.Interval
	if w.failed > 0 {
		backoff := min(interval, sweep.FirstRetry<<min(w.failed-1, 20))
		return backoff/2 + rand.N(backoff/2+1)
	}
	if w.state.Health.Sweeps == 1 {
		interval = interval/2 + time.Duration(w.phase()*float64(interval/2))
	}
	return max(0, interval-time.Since(started))
}

// phase is a fraction of 1 that belongs to the target's name.
func (w *Watcher) phase() float64 {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, w.target.Name)
	return float64(hash.Sum32()) / (1 << 32)
}

// When to sweep, and what to publish when: the only file in which time passes
// by itself. A sweep runs in a child of Run's goroutine; readers never wait for it.

package collector

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Watcher sweeps one target again and again and keeps the last snapshot.
type Watcher struct {
	target  Target
	log     *slog.Logger
	sweeper *sweeper
	sent    *commandCounts
	latest  atomic.Pointer[Snapshot]

	// What follows belongs to Run's goroutine.
	state    Snapshot  // the next snapshot, before it is published
	answered bool      // the running sweep got an INFO
	lastInfo time.Time // when the node last answered one
	lastData time.Time // when the last successful sweep ended
	failed   int       // sweeps in a row that did not reach the node, or lost it
	problem  string    // the reason that was logged last; empty: all is well
	noticed  map[string]bool
	broken   string // why the last full walk failed, as logged; empty: it did not
}

// NewWatcher prepares the watcher of a target; nothing is dialled before Run.
func NewWatcher(target Target, log *slog.Logger) *Watcher {
	sent := newCommandCounts()
	return newWatcher(target, nodeOf(target, sent), sent, log)
}

func newWatcher(target Target, node node, sent *commandCounts, log *slog.Logger) *Watcher {
	w := &Watcher{
		target:  target,
		log:     log.With("target", target.Name),
		sweeper: newSweeper(target, node, rand.Uint64()),
		sent:    sent,
		noticed: map[string]bool{},
	}
	failures := map[string]uint64{}
	for _, reason := range reasons {
		failures[reason] = 0
	}
	w.state = Snapshot{
		Target: target.Name,
		Node:   NodeHealth{Name: node.name()},
		Health: Health{Interval: target.Sweep.Interval, Failures: failures},
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
	result *swept
	err    error
	took   time.Duration
}

// greeting is what a node said at the start of a sweep.
type greeting struct {
	info Info
	ping time.Duration
}

// Run sweeps until ctx ends; it returns nil then, with every connection closed
// and no goroutine left. It is called once.
func (w *Watcher) Run(ctx context.Context) error {
	// Buffered, so that the sweep's goroutine never waits for this one.
	greetings, outcomes := make(chan greeting, 1), make(chan outcome, 1)
	next, stale := time.NewTimer(0), time.NewTimer(w.target.Sweep.Interval)
	defer next.Stop()
	defer stale.Stop()
	if w.target.Sweep.FullEvery > 0 {
		var walks sync.WaitGroup
		walks.Go(func() { w.sweeper.walkFully(ctx) })
		defer walks.Wait()
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
				result, err := w.sweeper.safely(ctx, func(info Info, ping time.Duration) { greetings <- greeting{info, ping} })
				outcomes <- outcome{result, err, time.Since(started)}
			}()
		case hello := <-greetings:
			w.greeted(hello)
		case done := <-outcomes:
			sweeping = false
			select { // the greeting may not have been read yet
			case hello := <-greetings:
				w.greeted(hello)
			default:
			}
			if ctx.Err() != nil {
				return nil
			}
			w.finished(done)
			next.Reset(w.pause(started))
		case <-stale.C:
		}
		stale.Reset(w.dropStale())
	}
}

// greeted publishes what INFO said before the keys are met.
func (w *Watcher) greeted(hello greeting) {
	w.answered, w.lastInfo = true, time.Now()
	w.state.Info = &hello.info
	w.state.Health.Up = true
	w.state.Node.Up, w.state.Node.Ping = true, hello.ping
	w.publish()
}

// finished publishes a sweep's result, or its failure beside the old data.
func (w *Watcher) finished(done outcome) {
	health := &w.state.Health
	health.Sweeps++
	health.Duration = done.took
	health.Swept = done.err == nil
	health.Capabilities = w.sweeper.capabilities.list()
	if done.err != nil {
		reason := reasonOf(done.err)
		health.Failures[reason]++
		health.Up, w.state.Node.Up = w.answered, w.answered
		if !w.answered {
			w.state.Node.Ping = 0
		}
		lost := reason == ReasonUnreachable || reason == ReasonTimeout && !errors.Is(done.err, errTooLong)
		if !w.answered || lost {
			w.failed++
		} else {
			w.failed = 0
		}
		w.report(reason, done.err)
	} else {
		now := time.Now()
		w.lastInfo, w.lastData, w.failed = now, now, 0
		health.LastSuccess = now
		health.Examined, health.Coverage = done.result.examined, done.result.share
		health.StaleAfter = w.staleAfter()
		w.state.Info = &done.result.info
		w.state.Databases, w.state.Groups = figures(done.result)
		w.state.Folded, w.state.Leaks = done.result.folded, !done.result.now.IsZero()
		w.report("", nil)
		health.LastFullWalk = done.result.full.ended
		w.reportBacklog(done.result.backlog)
		w.reportFullWalk(done.result.full)
	}
	w.publish()
}

// publish makes the state the latest snapshot. The maps are copied, everything
// else in it is replaced and never changed.
func (w *Watcher) publish() {
	snapshot := w.state
	snapshot.Health.Commands = w.sent.snapshot()
	snapshot.Health.Failures = maps.Clone(w.state.Health.Failures)
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

// dropStale withdraws what is too old to be shown, and answers when to look
// again.
func (w *Watcher) dropStale() time.Duration {
	limit := w.state.Health.StaleAfter
	dropped := false
	again := limit
	if w.state.Info != nil {
		if age := time.Since(w.lastInfo); age >= limit {
			w.state.Info, dropped = nil, true
		} else {
			again = min(again, limit-age)
		}
	}
	if w.state.Databases != nil {
		if age := time.Since(w.lastData); age >= limit {
			w.state.Databases, w.state.Groups, dropped = nil, nil, true
		} else {
			again = min(again, limit-age)
		}
	}
	if dropped {
		w.publish()
	}
	return again
}

// Retries of a node that cannot be reached come sooner than the next interval,
// and less often the longer it lasts.
const firstRetry = time.Second

// pause is the wait before the next sweep: the rest of the interval from start
// to start. The second sweep comes earlier, by a part of the interval that
// depends on the target's name, so that many targets do not sweep in step.
func (w *Watcher) pause(started time.Time) time.Duration {
	interval := w.target.Sweep.Interval
	if w.failed > 0 {
		backoff := min(interval, firstRetry<<min(w.failed-1, 20))
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

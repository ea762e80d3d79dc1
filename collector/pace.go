package collector

import (
	"context"
	"math"
	"time"
)

// pacer keeps a node busy for at most its duty: after a batch that took Redis b
// of work it waits b x (1/duty - 1).
type pacer struct {
	duty float64
	ping time.Duration // the smallest seen: what a round trip costs without work
}

// rest is the wait after a batch of some round trips. Network latency is not
// Redis' work, but at least a fifth of a batch's time counts as such: a PING
// can be slower than the batch's own round trips.
func (p *pacer) rest(batch time.Duration, trips int) time.Duration {
	work := max(batch-time.Duration(trips)*p.ping, batch/5)
	return time.Duration(math.Min(float64(work)*(1/p.duty-1), float64(longestRest)))
}

// longestRest keeps a tiny duty from overflowing.
const longestRest = time.Hour

// pings is how often a sweep asks for the round trip's time.
const pings = 3

func (p *pacer) measure(ctx context.Context, c conn) error {
	for i := range pings {
		took, err := c.ping(ctx)
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

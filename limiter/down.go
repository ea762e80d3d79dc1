// This file owns what holds while Redis gives no answer: which errors mean
// that, and the limiter in this process.

package limiter

import (
	"fmt"
	"maps"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Down is what holds while Redis gives no answer in time: it cannot be reached,
// is loading, is full, or takes longer than the context.
//
// There is no way to say "the limiter we had before". Such a limiter shares its
// keys with this one or has keys of its own in the same Redis; when half of it
// gets through and half does not, which is what an outage is, it leaves the keys
// without TTL that this package exists to prevent.
type Down int

// The choices.
const (
	// FailOpen allows every call: the limit protects something that can bear
	// more for a while.
	FailOpen Down = iota + 1
	// FailClosed refuses every call: the limit protects something that cannot,
	// such as a login.
	FailClosed
	// FailLocal allows LocalShare of the limit, counted in this process.
	FailLocal
)

func (o Options) check() error {
	switch o.Down {
	case FailOpen, FailClosed:
		if o.LocalShare != 0 {
			return fmt.Errorf("%w: it is for FailLocal", ErrShare)
		}
	case FailLocal:
		if !(o.LocalShare > 0 && o.LocalShare <= 1) { // as NaN is neither
			return fmt.Errorf("%w: %v is not above 0 and up to 1", ErrShare, o.LocalShare)
		}
	default:
		return fmt.Errorf("%w: want FailOpen, FailClosed or FailLocal", ErrDown)
	}
	return nil
}

// isDown says whether an error is the server's or the connection's, rather than
// one of the key or of this package.
func isDown(err error) bool {
	return err != nil && !isAny(err, ErrWrongType, ErrUnreadable, errReply)
}

func (l *Limiter) withoutRedis(subject string, n int64, peek bool) Result {
	result := Result{Allowed: l.options.Down == FailOpen}
	if l.options.Down == FailLocal {
		result = l.local.allow(time.Now(), subject, n, peek)
	}
	result.Degraded = true
	return result
}

// mostLocal is how many subjects a process keeps at once, about 300 bytes each.
const mostLocal = 10000

// local is a token bucket for each policy and subject, with a share of the
// policy's limit as its capacity.
type local struct {
	windows []window
	share   float64

	mu       sync.Mutex
	subjects map[string][]*rate.Limiter
}

func newLocal(windows []window, share float64) *local {
	return &local{windows: windows, share: share, subjects: map[string][]*rate.Limiter{}}
}

func (l *local) allow(now time.Time, subject string, n int64, peek bool) Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	buckets := l.of(now, subject)
	result := Result{Allowed: true}
	for i, b := range buckets {
		left := max(int64(b.TokensAt(now)), 0)
		if i == 0 || left < result.Remaining {
			result.Limit, result.Remaining = int64(b.Burst()), left
		}
		missing, used := float64(n)-b.TokensAt(now), float64(b.Burst())-b.TokensAt(now)
		if missing > 0 {
			result.Allowed = false
			result.RetryAfter = max(result.RetryAfter, wait(missing, b.Limit()), time.Millisecond)
		}
		result.ResetAfter = max(result.ResetAfter, wait(used, b.Limit()))
	}
	if result.Allowed && !peek {
		for _, b := range buckets {
			b.AllowN(now, int(n))
		}
		result.Remaining -= n
	}
	return result
}

// wait is how long tokens take to come, in whole milliseconds.
func wait(tokens float64, limit rate.Limit) time.Duration {
	seconds := math.Min(max(tokens, 0)/float64(limit), 2*MaxWindow.Seconds())
	return roundUp(time.Duration(seconds*float64(time.Second)), time.Millisecond)
}

// of returns the subject's buckets. When there are too many, those that are
// full are forgotten; when none is, all are: memory is bounded, and the limit
// of a process that has no Redis is not worth more.
func (l *local) of(now time.Time, subject string) []*rate.Limiter {
	if buckets, ok := l.subjects[subject]; ok {
		return buckets
	}
	if len(l.subjects) >= mostLocal {
		maps.DeleteFunc(l.subjects, func(_ string, buckets []*rate.Limiter) bool {
			for _, b := range buckets {
				if b.TokensAt(now) < float64(b.Burst()) {
					return false
				}
			}
			return true
		})
	}
	if len(l.subjects) >= mostLocal {
		clear(l.subjects)
	}
	buckets := make([]*rate.Limiter, len(l.windows))
	for i, w := range l.windows {
		burst := max(int64(float64(w.limit)*l.share), 1)
		buckets[i] = rate.NewLimiter(rate.Limit(w.rate*l.share), int(burst))
	}
	l.subjects[subject] = buckets
	return buckets
}

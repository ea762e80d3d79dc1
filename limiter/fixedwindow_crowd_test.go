// This file owns the fixed window under many callers at once, and the scenario
// that the broken limiters fail.

package limiter

import (
	"context"
	"slices"
	"sync"
	"testing"

	"keyhealth/limiter/flawed"
	"keyhealth/limiter/internal/limitertest"
)

// TestFixedWindowScenario: what each of the broken limiters fails.
func TestFixedWindowScenario(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 5, hour)
		faults := limitertest.Run(t, s, limitertest.Candidate{
			New:    func(flawed.Hook) flawed.Limiter { return yesOrNo{l} },
			Key:    func(subject string) string { return mustKey(t, l, subject) },
			Limit:  5,
			MaxTTL: l.MaxTTL(),
		})
		if len(faults) != 0 {
			t.Errorf("the scenario sees %q", faults)
		}
	})
}

// yesOrNo is a limiter as the scenario calls it.
type yesOrNo struct{ Limiter }

func (l yesOrNo) Allow(ctx context.Context, subject string) (bool, error) {
	result, err := l.Limiter.Allow(ctx, subject)
	return result.Allowed, err
}

// TestFixedWindowUnderConcurrency: of 640 calls by 64 goroutines the limit is
// allowed, and each of those finds another number of calls left.
func TestFixedWindowUnderConcurrency(t *testing.T) {
	const limit, callers, calls = 100, limitertest.Callers, 10
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, limit, hour)
		var mu sync.Mutex
		var left []int64
		var done sync.WaitGroup
		for range callers {
			done.Go(func() {
				for range calls {
					result, err := l.Allow(t.Context(), "alice")
					if err != nil {
						t.Errorf("Allow: %v", err)
						return
					}
					if result.Allowed {
						mu.Lock()
						left = append(left, result.Remaining)
						mu.Unlock()
					}
				}
			})
		}
		done.Wait()
		slices.Sort(left)
		if len(left) != limit || left[0] != 0 || left[limit-1] != limit-1 || len(slices.Compact(left)) != limit {
			t.Errorf("%d calls were allowed, want %d; they found left: %v", len(left), limit, left)
		}
		checkKey(t, s, l, "alice", "100")
	})
}

// TestFixedWindowWhileKeysGoBad: 64 goroutines call while another takes the
// TTL away, makes it huge, ends the window and plants a late refund. No call
// fails, and the next one leaves the key sound.
func TestFixedWindowWhileKeysGoBad(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 3, hour)
		key := mustKey(t, l, "alice")
		var calling, spoiling sync.WaitGroup
		end := make(chan struct{})
		spoiling.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-end:
					return
				default:
				}
				spoil := []any{"PERSIST", key}
				switch i % 4 {
				case 1:
					spoil = []any{"PEXPIRE", key, 10 * hour.Milliseconds()}
				case 2:
					spoil = []any{"PEXPIREAT", key, 1}
				case 3:
					spoil = []any{"DECR", key}
				}
				if err := s.Client.Do(t.Context(), spoil...).Err(); err != nil {
					t.Errorf("%v: %v", spoil, err)
				}
			}
		})
		for range limitertest.Callers {
			calling.Go(func() {
				for range 10 {
					if _, err := l.Allow(t.Context(), "alice"); err != nil {
						t.Errorf("Allow: %v", err)
					}
				}
			})
		}
		calling.Wait()
		close(end)
		spoiling.Wait()
		if _, err := l.Allow(t.Context(), "alice"); err != nil {
			t.Error(err)
		}
		if k := s.Look(t, key); k.TTL <= 0 || k.TTL > l.MaxTTL() {
			t.Errorf("the key is %+v, want a TTL up to %v", k, l.MaxTTL())
		}
	})
}

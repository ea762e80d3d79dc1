// This file owns the limiter under many callers at once, and the scenario that
// the broken limiters fail, for every policy.

package limiter

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"keyhealth/limiter/flawed"
	"keyhealth/limiter/internal/limitertest"
)

// policiesOf are those that allow so many calls at once, and of a bucket none
// comes back during a test.
func policiesOf(limit int64) map[string]Policy {
	return map[string]Policy{
		"fixed":   FixedWindow{Limit: limit, Window: hour},
		"sliding": SlidingWindow{Limit: limit, Window: hour},
		"bucket":  TokenBucket{Capacity: limit, Refill: 1, Every: hour},
	}
}

// TestScenario: what each of the broken limiters fails.
func TestScenario(t *testing.T) {
	for name, policy := range policiesOf(5) {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(t *testing.T, s *limitertest.Server) {
				l := mustNew(t, s.Client, policy)
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
		})
	}
}

// yesOrNo is a limiter as the scenario calls it.
type yesOrNo struct{ *Limiter }

func (l yesOrNo) Allow(ctx context.Context, subject string) (bool, error) {
	result, err := l.Limiter.Allow(ctx, subject)
	return result.Allowed, err
}

// TestCrowd: of 640 calls by 64 goroutines the limit is allowed, and each of
// those finds another number of calls left. A tenth of them reserve.
func TestCrowd(t *testing.T) {
	const limit, calls = 100, 10
	for name, policy := range policiesOf(limit) {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(t *testing.T, s *limitertest.Server) {
				l := mustNew(t, s.Client, policy, FixedWindow{Limit: limit, Window: 25 * time.Hour})
				var mu sync.Mutex
				var left []int64
				var done sync.WaitGroup
				for caller := range limitertest.Callers {
					done.Go(func() {
						for call := range calls {
							result, err := one(t.Context(), l, call == caller%calls)
							if err != nil || result.Degraded {
								t.Errorf("%+v, %v", result, err)
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
			})
		})
	}
}

// one is a call, or a reservation of one that is committed at once.
func one(ctx context.Context, l *Limiter, reserve bool) (Result, error) {
	if !reserve {
		return l.Allow(ctx, "alice")
	}
	r, err := l.Reserve(ctx, "alice", 1)
	if err != nil || !r.Allowed {
		return Result{}, err
	}
	return r.Result, r.Commit(ctx, 1)
}

// TestWhileKeysGoBad: 64 goroutines call while another takes the
// TTL away, makes it huge, ends the window and plants a late refund. No call
// fails, and the next one leaves the key sound.
func TestWhileKeysGoBad(t *testing.T) {
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

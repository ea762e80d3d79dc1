package selftest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/limiter"
)

var errNoAnswer = errors.New("no answer from Redis")

// check is one of the checks: nil is passed.
type check struct {
	name string
	run  func(context.Context) error
}

func (r *run) checks() []check {
	each := func(f func(context.Context, limited) error) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			for name, l := range r.limiters {
				if found := f(ctx, l); found != nil {
					err = errors.Join(err, fmt.Errorf("%s: %w", name, found))
				}
			}
			return err
		}
	}
	return []check{
		{CheckExactLimit, each(r.exactLimit)},
		{CheckTTL, each(r.ttlAfterCalls)},
		{CheckHealing, each(r.healing)},
	}
}

// exactLimit has all callers ask twice at the same moment.
func (r *run) exactLimit(ctx context.Context, l limited) error {
	var allowed atomic.Int64
	var failed atomic.Pointer[error]
	var done sync.WaitGroup
	start := make(chan struct{})
	for range Callers {
		done.Go(func() {
			<-start
			for range 2 {
				if ctx.Err() != nil {
					return
				}
				result, err := answered(l.Allow(whole(ctx), crowd))
				if err != nil {
					failed.Store(&err)
					return
				}
				if result.Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	close(start)
	done.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	if n := allowed.Load(); n != limit {
		return fmt.Errorf("of %d calls %d were allowed, want %d", 2*Callers, n, limit)
	}
	return r.sound(ctx, l, crowd, true)
}

// whole is the context of a call that is not broken off: the server may still
// carry it out, after the keys are removed. A check ends between its calls.
func whole(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

func answered(result limiter.Result, err error) (limiter.Result, error) {
	if err == nil && result.Degraded {
		err = errNoAnswer
	}
	return result, err
}

// ttlAfterCalls makes each kind of call, and looks at the key after it.
func (r *run) ttlAfterCalls(ctx context.Context, l limited) error {
	var reservation *limiter.Reservation
	reserve := func(n int64) error {
		var err error
		if reservation, err = l.Reserve(whole(ctx), calls, n); err != nil {
			return err
		}
		_, err = answered(reservation.Result, nil)
		return err
	}
	allow := func(n int64, want bool) error {
		result, err := answered(l.AllowN(whole(ctx), calls, n))
		if err == nil && result.Allowed != want {
			err = fmt.Errorf("allowed: %v, want %v", result.Allowed, want)
		}
		return err
	}
	for _, step := range []struct {
		name string
		key  bool // whether there is one afterwards
		call func() error
	}{
		{"peek", false, func() error { _, err := answered(l.Peek(whole(ctx), calls)); return err }},
		{"allow", true, func() error { return allow(1, true) }},
		{"reserve", true, func() error { return reserve(5) }},
		{"commit", true, func() error { return reservation.Commit(whole(ctx), 3) }},
		{"reserve again", true, func() error { return reserve(5) }},
		{"cancel", true, func() error { return reservation.Cancel(whole(ctx)) }},
		{"allow the rest", true, func() error { return allow(limit-4, true) }},
		{"deny", true, func() error { return allow(1, false) }},
	} {
		if err := step.call(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := r.sound(ctx, l, calls, step.key); err != nil {
			return fmt.Errorf("after %s: %w", step.name, err)
		}
	}
	return nil
}

// healing plants what a broken limiter leaves, and wants its caller let in.
func (r *run) healing(ctx context.Context, l limited) error {
	keys, err := l.Keys(zombie)
	if err != nil {
		return err
	}
	for name, ttl := range map[string]time.Duration{"without TTL": 0, "with a TTL above the bound": 3 * l.MaxTTL()} {
		// Used up, as the policy writes it, by a call; then with another TTL.
		if _, err := answered(l.AllowN(whole(ctx), zombie, limit)); err != nil {
			return err
		}
		finder, err := limiter.New(planting{r.client, ttl}, r.options, l.policy)
		if err != nil {
			return err
		}
		result, err := answered(finder.AllowN(whole(ctx), zombie, limit))
		if err != nil {
			return err
		}
		if !result.Healed || !result.Allowed {
			return fmt.Errorf("a key %s: healed: %v, allowed: %v", name, result.Healed, result.Allowed)
		}
		if err := r.sound(ctx, l, zombie, true); err != nil {
			return fmt.Errorf("a key %s: %w", name, err)
		}
		if err := r.client.Del(ctx, keys[0]).Err(); err != nil {
			return err
		}
	}
	return nil
}

// sound wants a TTL in bounds, or no key.
func (r *run) sound(ctx context.Context, l limited, subject string, exists bool) error {
	keys, err := l.Keys(subject)
	if err != nil {
		return err
	}
	ttl, err := r.client.PTTL(ctx, keys[0]).Result()
	switch {
	case err != nil:
		return err
	case !exists && ttl == -2:
		return nil
	case !exists || ttl <= 0 || ttl > l.MaxTTL():
		return fmt.Errorf("PTTL is %v, want a key: %v, up to %v", ttl, exists, l.MaxTTL())
	}
	return nil
}

var policyName = regexp.MustCompile(`^(allkeys|volatile)-[a-z]{2,8}$`)

// evictionWarning says whether the server may take away keys with a TTL, and so
// limits, when it is full. A server that does not tell is not warned of.
func evictionWarning(ctx context.Context, c redis.Cmdable) (string, error) {
	info, err := c.Info(ctx, "memory").Result()
	if err != nil {
		return "", nil //nolint:nilerr // no right to INFO is no failure of the limiter
	}
	policy := field(info, "maxmemory_policy")
	switch {
	case policy == "" || policy == "noeviction":
		return "", nil
	case !policyName.MatchString(policy): // the server's text goes no further
		return "maxmemory-policy is unknown: when memory is full the server may evict counters", nil
	case field(info, "maxmemory") == "0":
		return fmt.Sprintf("maxmemory-policy is %s: with a maxmemory, which is not set now, limits would be forgotten when it is reached", policy), nil
	}
	return fmt.Sprintf("maxmemory-policy is %s: when memory is full the server evicts counters, and limits start anew", policy), nil
}

func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

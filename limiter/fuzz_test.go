package limiter

import (
	"errors"
	"testing"
	"time"
)

// FuzzCalls: whatever is configured, asked and found in the key, nothing
// panics, and no key without a TTL, or with one above the bound, is made or kept.
func FuzzCalls(f *testing.F) {
	f.Add(int64(5), int64(60000), int64(1), "alice", "5", true)
	f.Add(int64(1), int64(1), int64(-1), "", "", false)
	f.Add(int64(1)<<53, int64(31622400000), int64(1)<<53, "a}b{c\xff", "9007199254740993", true)
	f.Add(int64(3), int64(1500), int64(2), "{}", "12 1893456000123000", true)
	f.Add(int64(3), int64(1000), int64(3), "%", "18934560001:2 18934560002:9 ", false)
	f.Add(int64(7), int64(10), int64(1), "x", "99999999999999999999 99999999999999999999", true)
	w := miniWorld(f)
	f.Fuzz(func(t *testing.T, limit, ms, cost int64, subject, value string, ttl bool) {
		every := time.Duration(ms) * time.Millisecond
		for _, p := range []Policy{FixedWindow{limit, every}, SlidingWindow{limit, every}, TokenBucket{limit, limit, every}} {
			l, err := New(w.client, Options{Down: FailClosed, Replace: cost%2 == 0}, p)
			if err != nil {
				continue
			}
			keys, err := l.Keys(subject)
			if err != nil {
				continue
			}
			px := time.Duration(0)
			if ttl {
				px = l.MaxTTL()
			}
			if err := w.client.Set(t.Context(), keys[0], value, px).Err(); err != nil {
				t.Fatal(err)
			}
			got, err := l.AllowN(t.Context(), subject, cost)
			if got.Degraded || got.Remaining < 0 || got.Remaining > limit || got.RetryAfter < 0 || got.ResetAfter < 0 || got.ResetAfter > l.MaxTTL() {
				t.Errorf("%+v: %+v, %v", p, got, err)
			}
			if errors.Is(err, ErrCost) || errors.Is(err, ErrUnreadable) {
				continue // the key is as it was
			}
			k, lookErr := w.look(t.Context(), keys[0])
			if rest := k.when - w.now/1000; err != nil || lookErr != nil || k != noKey && (k.when == 0 || rest > l.MaxTTL().Milliseconds()) {
				t.Errorf("%+v: the key is %+v, %v, %v", p, k, err, lookErr)
			}
			w.client.Del(t.Context(), keys[0])
		}
	})
}

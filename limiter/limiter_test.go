package limiter

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestNew(t *testing.T) {
	closed, fixed := Options{Down: FailClosed}, FixedWindow{Limit: 1, Window: hour}
	local := func(share float64) Options { return Options{Down: FailLocal, LocalShare: share} }
	tests := []struct {
		name string
		Options
		policies []Policy
		want     error
	}{
		{"the smallest", closed, []Policy{FixedWindow{Limit: 1, Window: time.Millisecond}}, nil},
		{"the largest", closed, []Policy{FixedWindow{Limit: 1 << 53, Window: MaxWindow}}, nil},
		{"two windows", closed, []Policy{fixed, FixedWindow{Limit: 1, Window: time.Minute}}, nil},
		{"the smallest share", local(math.SmallestNonzeroFloat64), []Policy{fixed}, nil},
		{"the whole share", local(1), []Policy{fixed}, nil},

		{"limit 0", closed, []Policy{FixedWindow{Window: hour}}, ErrLimit},
		{"negative limit", closed, []Policy{SlidingWindow{Limit: -1, Window: hour}}, ErrLimit},
		{"limit above 2^53", closed, []Policy{FixedWindow{Limit: 1<<53 + 1, Window: hour}}, ErrLimit},
		{"largest number", closed, []Policy{SlidingWindow{Limit: math.MaxInt64, Window: hour}}, ErrLimit},
		{"capacity 0", closed, []Policy{TokenBucket{Refill: 1, Every: hour}}, ErrLimit},
		{"window 0", closed, []Policy{FixedWindow{Limit: 1}}, ErrWindow},
		{"negative window", closed, []Policy{FixedWindow{Limit: 1, Window: -time.Second}}, ErrWindow},
		{"window under 1 ms", closed, []Policy{SlidingWindow{Limit: 1, Window: time.Millisecond - 1}}, ErrWindow},
		{"fraction of a millisecond", closed, []Policy{FixedWindow{Limit: 1, Window: time.Second / 3}}, ErrWindow},
		{"a unix time as a window", closed, []Policy{FixedWindow{Limit: 1, Window: 1764500000 * time.Second}}, ErrWindow},
		{"longest duration", closed, []Policy{FixedWindow{Limit: 1, Window: math.MaxInt64}}, ErrWindow},
		{"the second policy is wrong", closed, []Policy{fixed, FixedWindow{Limit: 1}}, ErrWindow},
		{"period 0", closed, []Policy{TokenBucket{Capacity: 1, Refill: 1}}, ErrWindow},
		{"rate 0", closed, []Policy{TokenBucket{Capacity: 1, Every: hour}}, ErrRate},
		{"negative rate", closed, []Policy{TokenBucket{Capacity: 1, Refill: -1, Every: hour}}, ErrRate},
		{"rate beyond all bounds", closed, []Policy{TokenBucket{Capacity: 1, Refill: math.MaxInt64, Every: hour}}, ErrRate},
		{"a bucket that is never full", closed, []Policy{TokenBucket{Capacity: 367, Refill: 1, Every: 24 * time.Hour}}, ErrRate},
		{"a bucket of numbers beyond 2^51", closed, []Policy{TokenBucket{Capacity: MaxLimit, Refill: 999_999_999, Every: time.Second}}, ErrRate},
		{"product beyond 2^64", closed, []Policy{TokenBucket{Capacity: MaxLimit, Refill: 999_999_999, Every: MaxWindow}}, ErrRate},
		{"brace in the prefix", Options{Down: FailOpen, Prefix: "a{b"}, []Policy{fixed}, ErrPrefix},
		{"no policy", closed, nil, ErrPolicies},
		{"a policy that is nil", closed, []Policy{fixed, nil}, ErrPolicies},
		{"a nil pointer to a policy", closed, []Policy{(*TokenBucket)(nil)}, ErrPolicies},
		{"two that share a key", closed, []Policy{fixed, FixedWindow{Limit: 2, Window: hour}}, ErrPolicies},
		{"nothing said", Options{}, []Policy{fixed}, ErrDown},
		{"unknown choice", Options{Down: FailLocal + 1}, []Policy{fixed}, ErrDown},
		{"negative choice", Options{Down: -1}, []Policy{fixed}, ErrDown},
		{"share 0", local(0), []Policy{fixed}, ErrShare},
		{"share NaN", local(math.NaN()), []Policy{fixed}, ErrShare},
		{"share above 1", local(1.01), []Policy{fixed}, ErrShare},
		{"negative share", local(-0.5), []Policy{fixed}, ErrShare},
		{"infinite share", local(math.Inf(1)), []Policy{fixed}, ErrShare},
		{"share without FailLocal", Options{Down: FailOpen, LocalShare: 0.5}, []Policy{fixed}, ErrShare},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := New(&counted{}, tt.Options, tt.policies...)
			if !errors.Is(err, tt.want) || (l == nil) != (tt.want != nil) {
				t.Errorf("%v, %v, want the error %v", l, err, tt.want)
			}
		})
	}
}

func TestNewWithoutClient(t *testing.T) {
	var none redis.UniversalClient
	for _, c := range []client{nil, none, (*redis.Client)(nil)} {
		if l, err := New(c, Options{Down: FailOpen}, FixedWindow{Limit: 1, Window: hour}); !errors.Is(err, ErrClient) || l != nil {
			t.Errorf("%T: %v, %v, want %v", c, l, err, ErrClient)
		}
	}
}

// TestAnotherLimit: a limiter that is deployed with a smaller limit does not take
// a key of the larger one for sick: it gives back no call.
func TestAnotherLimit(t *testing.T) {
	const many, few = 1000, 10
	for name, policy := range map[string]func(limit int64) Policy{
		"fixed":   func(limit int64) Policy { return FixedWindow{Limit: limit, Window: time.Minute} },
		"sliding": func(limit int64) Policy { return SlidingWindow{Limit: limit, Window: time.Minute} },
		"bucket":  func(limit int64) Policy { return TokenBucket{Capacity: limit, Refill: 1, Every: time.Second} },
	} {
		t.Run(name, func(t *testing.T) {
			w := miniWorld(t)
			large, small := mustNew(t, w.client, policy(many)), mustNew(t, w.client, policy(few))
			if got, err := large.AllowN(t.Context(), "alice", many); err != nil || !got.Allowed {
				t.Fatalf("%+v, %v", got, err)
			}
			for range few + 1 {
				if got, err := small.Allow(t.Context(), "alice"); err != nil || got.Healed {
					t.Errorf("the smaller limit: %+v, %v", got, err)
				}
				if got, err := large.Allow(t.Context(), "alice"); err != nil || got.Allowed || got.Healed {
					t.Errorf("the larger limit: %+v, %v", got, err)
				}
			}
			if got, err := small.Allow(t.Context(), "alice"); err != nil || got.Allowed {
				t.Errorf("the smaller limit is never used up: %+v, %v", got, err)
			}
		})
	}
}

func TestMaxTTL(t *testing.T) {
	bucket := func(capacity, refill int64) Policy {
		return TokenBucket{Capacity: capacity, Refill: refill, Every: time.Second}
	}
	for _, tt := range []struct {
		policy Policy
		want   time.Duration
	}{
		{FixedWindow{Limit: 5, Window: time.Minute}, time.Minute},
		{SlidingWindow{Limit: 5, Window: time.Minute}, 66 * time.Second},
		{SlidingWindow{Limit: 5, Window: time.Millisecond}, 2 * time.Millisecond},
		{bucket(100, 10), 20 * time.Second},
		{bucket(1000, 100), 20 * time.Second},
		{bucket(10000, 100), 200 * time.Second},
		{bucket(100, 1), 200 * time.Second},
		{bucket(7, 2), 8 * time.Second},
		{bucket(1, 100), 2 * time.Second},
		{TokenBucket{Capacity: 50, Refill: 50, Every: time.Minute}, 2 * time.Minute},
		{TokenBucket{}, 0},
	} {
		if got := tt.policy.MaxTTL(); got != tt.want {
			t.Errorf("%+v: MaxTTL is %v, want %v", tt.policy, got, tt.want)
		}
	}
	l := mustNew(t, &counted{}, bucket(100, 10), FixedWindow{Limit: 5, Window: hour}, SlidingWindow{Limit: 5, Window: time.Minute})
	if got := l.MaxTTL(); got != hour {
		t.Errorf("of several policies it is %v, want the longest", got)
	}
}

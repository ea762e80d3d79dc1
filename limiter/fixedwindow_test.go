// This file owns what one caller sees of the fixed window: what its constructor
// takes, its decisions, what it leaves alone. Peek and crowds have files beside.

package limiter

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"keyhealth/limiter/internal/limitertest"
)

// TestFixedWindowDecisions is one subject's story: what is planted in its key,
// what is asked, and what the answer is.
func TestFixedWindowDecisions(t *testing.T) {
	const limit = 5
	denied := Result{Limit: limit, RetryAfter: hour, ResetAfter: hour}
	allowed := func(remaining int64) Result {
		return Result{Allowed: true, Limit: limit, Remaining: remaining, ResetAfter: hour}
	}
	healed := func(remaining int64) Result {
		r := allowed(remaining)
		r.Healed = true
		return r
	}
	px := hour.Milliseconds()
	tests := []struct {
		name  string
		plant []any // a command without its key, which comes second
		n     int64
		want  Result
		count string
	}{
		{name: "first", n: 1, want: allowed(4), count: "1"},
		{name: "all at once", n: 5, want: allowed(0), count: "5"},
		{name: "next", plant: []any{"SET", 3, "PX", px}, n: 1, want: allowed(1), count: "4"},
		{name: "the last is allowed", plant: []any{"SET", 4, "PX", px}, n: 1, want: allowed(0), count: "5"},
		{name: "none is left", plant: []any{"SET", 5, "PX", px}, n: 1, want: denied, count: "5"},
		{name: "too few are left", plant: []any{"SET", 3, "PX", px}, n: 3, count: "3",
			want: Result{Limit: limit, Remaining: 2, RetryAfter: hour, ResetAfter: hour}},
		{name: "the limit was lowered", plant: []any{"SET", 9, "PX", px}, n: 1, want: denied, count: "9"},
		{name: "a count beyond 2^53", plant: []any{"SET", "9007199254740993", "PX", px}, n: 1, want: denied, count: "9007199254740993"},
		{name: "a count beyond 2^63", plant: []any{"SET", "10000000000000000000000000", "PX", px}, n: 1, want: denied, count: "10000000000000000000000000"},
		{name: "a count of 0", plant: []any{"SET", 0, "PX", px}, n: 1, want: allowed(4), count: "1"},
		{name: "a zombie below the limit", plant: []any{"SET", 2}, n: 2, want: healed(3), count: "2"},
		{name: "a zombie at the limit", plant: []any{"SET", 5}, n: 1, want: healed(4), count: "1"},
		{name: "a zombie far above", plant: []any{"SET", math.MaxInt64}, n: 5, want: healed(0), count: "5"},
		{name: "what a late refund left", plant: []any{"SET", -1}, n: 1, want: healed(4), count: "1"},
		{name: "a negative count with a TTL", plant: []any{"SET", -1000, "PX", px}, n: 1, want: healed(4), count: "1"},
		{name: "a TTL above the window", plant: []any{"SET", 5, "PX", 2 * px}, n: 1, want: healed(4), count: "1"},
		{name: "milliseconds as seconds", plant: []any{"SET", 5, "EX", px}, n: 1, want: healed(4), count: "1"},
	}
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, limit, hour)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				key := mustKey(t, l, tt.name)
				if tt.plant != nil {
					run(t, s, slices.Insert(slices.Clone(tt.plant), 1, any(key))...)
				}
				got, err := l.AllowN(t.Context(), tt.name, tt.n)
				if got := hours(got); got != tt.want || err != nil {
					t.Errorf("AllowN(%d) is %+v, %v, want %+v", tt.n, got, err, tt.want)
				}
				checkKey(t, s, l, tt.name, tt.count)
			})
		}
	})
}

// hours takes the time that the test has needed out of a result: an hour.
func hours(r Result) Result {
	for _, d := range []*time.Duration{&r.RetryAfter, &r.ResetAfter} {
		if *d > 0 && *d <= hour {
			*d = hour
		}
	}
	return r
}

// checkKey wants the key of a subject to hold a count, and a TTL that is sound.
func checkKey(t *testing.T, s *limitertest.Server, l *Limiter, subject, count string) {
	t.Helper()
	k := s.Look(t, mustKey(t, l, subject))
	if k.Type != "string" || k.Value != count || k.TTL <= 0 || k.TTL > l.MaxTTL() {
		t.Errorf("the key is %+v, want the count %s and a TTL up to %v", k, count, l.MaxTTL())
	}
}

func TestFixedWindowRefusesCostAndSubject(t *testing.T) {
	_, s := startMini(t)
	c := &counted{client: s.Client}
	l := mustFixedWindow(t, c, 5, hour)
	for _, n := range []int64{0, -1, 6, math.MinInt64, math.MaxInt64} {
		if result, err := l.AllowN(t.Context(), "alice", n); !errors.Is(err, ErrCost) || result != (Result{}) {
			t.Errorf("AllowN(%d): %+v, %v, want %v", n, result, err, ErrCost)
		}
	}
	for name, ask := range map[string]func(context.Context, string) (Result, error){"Allow": l.Allow, "Peek": l.Peek} {
		if result, err := ask(t.Context(), ""); !errors.Is(err, ErrSubject) || result != (Result{}) {
			t.Errorf("%s without a subject: %+v, %v, want %v", name, result, err, ErrSubject)
		}
	}
	if c.eval+c.evalSha != 0 {
		t.Error("something was sent")
	}
}

// TestFixedWindowLeavesAlone: what this package cannot have written is neither
// read as a count nor replaced.
func TestFixedWindowLeavesAlone(t *testing.T) {
	plants := map[error][][]any{ErrWrongType: {{"LPUSH", "x"}, {"HSET", "f", "1"}, {"ZADD", "1", "x"}, {"SADD", "x"}}}
	for _, text := range []string{"", " ", "x", "1.5", "1e3", "0x10", " 5", "5 ", "+5", "007", "-0", "--1", "-", "5\n", "inf", "nan", "五"} {
		plants[ErrUnreadable] = append(plants[ErrUnreadable], []any{"SET", text}, []any{"SET", text, "EX", 10 * 3600})
	}
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 5, hour)
		key := mustKey(t, l, "alice")
		for want, commands := range plants {
			for _, command := range commands {
				run(t, s, "DEL", key)
				run(t, s, slices.Insert(slices.Clone(command), 1, any(key))...)
				before := s.Look(t, key)
				for name, ask := range map[string]func(context.Context, string) (Result, error){"Allow": l.Allow, "Peek": l.Peek} {
					if result, err := ask(t.Context(), "alice"); !errors.Is(err, want) || result != (Result{}) {
						t.Errorf("%s of %q: %+v, %v, want %v", name, command, result, err, want)
					}
				}
				after := s.Look(t, key)
				if !after.Unchanged(before) {
					t.Errorf("%q became %+v, was %+v", command, after, before)
				}
			}
		}
	})
}

// TestFixedWindowEnds: the window starts with the first call, later calls do
// not prolong it, and a new one starts when it is over.
func TestFixedWindowEnds(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 2, hour)
		key := mustKey(t, l, "alice")
		run(t, s, "SET", key, 1, "PX", (30 * time.Minute).Milliseconds())
		for call, allowed := range []bool{true, false, false} {
			got, err := l.Allow(t.Context(), "alice")
			if err != nil || got.Allowed != allowed || got.ResetAfter > 30*time.Minute || got.ResetAfter <= 0 {
				t.Errorf("call %d with half an hour left: %+v, %v", call, got, err)
			}
			if k := s.Look(t, key); k.TTL > 30*time.Minute {
				t.Errorf("call %d prolonged the window to %v", call, k.TTL)
			}
		}
		if err := s.Expire(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		got, err := l.Allow(t.Context(), "alice")
		if want := (Result{Allowed: true, Limit: 2, Remaining: 1, ResetAfter: hour}); got != want || err != nil {
			t.Errorf("in the next window: %+v, %v, want %+v", got, err, want)
		}
	})
}

// TestFixedWindowAtItsLastMoment: 0 ms left, which only miniredis can hold, is
// a window that is over. Adding to that key would leave it with a TTL of 0.
func TestFixedWindowAtItsLastMoment(t *testing.T) {
	m, s := startMini(t)
	l := mustFixedWindow(t, s.Client, 5, hour)
	key := mustKey(t, l, "alice")
	for _, count := range []string{"2", "5"} {
		if err := m.Set(key, count); err != nil {
			t.Fatal(err)
		}
		m.SetTTL(key, 300*time.Microsecond)
		want := Result{Allowed: true, Limit: 5, Remaining: 4, ResetAfter: hour}
		if got, err := l.Allow(t.Context(), "alice"); got != want || err != nil {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		checkKey(t, s, l, "alice", "1")
	}
}

// TestFixedWindowOfAMillisecond: the shortest window ends between any two
// commands, and still no key stays.
func TestFixedWindowOfAMillisecond(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 2, time.Millisecond)
		for range 300 {
			if got, err := l.Allow(t.Context(), "alice"); err != nil || got.ResetAfter > time.Millisecond {
				t.Fatalf("%+v, %v", got, err)
			}
			ttl, err := s.Client.PTTL(t.Context(), mustKey(t, l, "alice")).Result()
			if err != nil || ttl == limitertest.NoTTL || ttl > time.Millisecond {
				t.Fatalf("the TTL is %v, %v", ttl, err)
			}
		}
	})
}

// This file owns what callers get while Redis gives no answer.

package limiter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/limiter/internal/limitertest"
)

// TestDown: each choice, without a server, is flagged and tells the observer why.
func TestDown(t *testing.T) {
	m, s := startMini(t)
	m.SetError("LOADING Redis is loading the dataset in memory")
	tests := []struct {
		Options
		want []bool
	}{
		{Options{Down: FailOpen}, []bool{true, true, true}},
		{Options{Down: FailClosed}, []bool{false, false, false}},
		{Options{Down: FailLocal, LocalShare: 0.5}, []bool{true, true, false}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.Down), func(t *testing.T) {
			var seen []Outcome
			tt.Observe = func(o Outcome) { seen = append(seen, o) }
			l := mustNewWith(t, s.Client, tt.Options, FixedWindow{Limit: 4, Window: hour})
			for call, want := range tt.want {
				got, err := l.Allow(t.Context(), "alice")
				if err != nil || got.Allowed != want || !got.Degraded {
					t.Errorf("call %d: %+v, %v", call, got, err)
				}
				if o := seen[len(seen)-1]; o.Call != CallAllow || o.Result != got || !redis.HasErrorPrefix(errors.Unwrap(o.Err), "LOADING") {
					t.Errorf("observed: %+v", o)
				}
			}
			r, err := l.Reserve(t.Context(), "bob", 2)
			if err != nil || r.Allowed != tt.want[0] || !r.Degraded {
				t.Fatalf("Reserve: %+v, %v", r, err)
			}
			if !r.Allowed {
				return
			}
			// Back again: what was done meanwhile is charged.
			m.SetError("")
			defer m.SetError("LOADING again")
			if err := r.Commit(t.Context(), 2); err != nil {
				t.Error(err)
			}
			if got, err := l.Peek(t.Context(), "bob"); err != nil || got.Remaining != 2 {
				t.Errorf("after the commitment: %+v, %v", got, err)
			}
			run(t, s, "DEL", mustKey(t, l, "bob"))
		})
	}
}

// TestDownAndCancelled: a caller who is gone gets no decision, and uses up
// nothing.
func TestDownAndCancelled(t *testing.T) {
	_, s := startMini(t)
	l := mustNewWith(t, s.Client, Options{Down: FailOpen}, FixedWindow{Limit: 4, Window: hour})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := l.Allow(ctx, "alice"); !errors.Is(err, context.Canceled) || got != (Result{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// silent is a server that takes connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return listener.Addr().String()
}

// TestDeadline: the context's deadline holds whether the client keeps it or, as
// by default, not.
func TestDeadline(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			c := redis.NewClient(&redis.Options{Addr: silent(t), MaxRetries: -1, ReadTimeout: time.Hour, DialTimeout: time.Hour, ContextTimeoutEnabled: keeps})
			l := mustNewWith(t, c, Options{Down: FailOpen}, FixedWindow{Limit: 4, Window: hour})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			got, err := l.Allow(ctx, "alice") // an hour, if it fails
			if err != nil || got != (Result{Allowed: true, Degraded: true}) {
				t.Errorf("%+v, %v", got, err)
			}
			_ = c.Close() // ends the call that nobody waits for
		})
	}
}

// TestLocal: the share of every policy, all or none, and as time passes more.
func TestLocal(t *testing.T) {
	l := mustNewWith(t, &counted{}, Options{Down: FailLocal, LocalShare: 0.5},
		FixedWindow{Limit: 8, Window: time.Minute}, TokenBucket{Capacity: 1, Refill: 1, Every: time.Second}).local
	now := time.Unix(1893456000, 0)
	// Half of 8 a minute is 4, one each 15 s; half of 1 is still 1, each 2 s.
	for i, step := range []struct {
		after time.Duration
		n     int64
		peek  bool
		want  Result
	}{
		{0, 1, true, Result{Allowed: true, Limit: 1, Remaining: 1}},
		{0, 1, false, Result{Allowed: true, Limit: 1}},
		{0, 1, false, Result{Limit: 1, RetryAfter: 2 * time.Second, ResetAfter: 15 * time.Second}},
		{2 * time.Second, 1, false, Result{Allowed: true, Limit: 1, ResetAfter: 13 * time.Second}},
		{2 * time.Second, 1, false, Result{Allowed: true, Limit: 1, ResetAfter: 26 * time.Second}},
		{2 * time.Second, 1, false, Result{Allowed: true, Limit: 4, ResetAfter: 39 * time.Second}},
		{2 * time.Second, 1, false, Result{Limit: 4, RetryAfter: 7 * time.Second, ResetAfter: 52 * time.Second}},
		{8 * time.Second, 1, true, Result{Allowed: true, Limit: 4, Remaining: 1, ResetAfter: 44 * time.Second}},
	} {
		now = now.Add(step.after)
		if got := l.allow(now, "alice", step.n, step.peek); got != step.want {
			t.Errorf("step %d: %+v, want %+v", i, got, step.want)
		}
	}
	for i := range 3 * mostLocal {
		if got := l.allow(now, fmt.Sprint(i), 1, false); !got.Allowed {
			t.Fatalf("subject %d: %+v", i, got)
		}
		if len(l.subjects) > mostLocal {
			t.Fatalf("%d subjects are kept", len(l.subjects))
		}
	}
}

// TestObserve: every call that is sent is told once, as it was answered.
func TestObserve(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		var seen []Outcome
		l := mustNewWith(t, s.Client, Options{Down: FailClosed, Observe: func(o Outcome) { seen = append(seen, o) }}, FixedWindow{Limit: 1, Window: hour})
		key := mustKey(t, l, "alice")
		run(t, s, "SET", key, 7)
		allowed, _ := l.Allow(t.Context(), "alice")
		denied, _ := l.Allow(t.Context(), "alice")
		_, _ = l.Allow(t.Context(), "")
		_, _ = l.AllowN(t.Context(), "alice", 2)
		peeked, _ := l.Peek(t.Context(), "alice")
		r, err := l.Reserve(t.Context(), "bob", 1)
		if err != nil {
			t.Fatal(err)
		}
		run(t, s, "PERSIST", mustKey(t, l, "bob"))
		_ = r.Cancel(t.Context())
		run(t, s, "SET", key, "x")
		_, broken := l.Allow(t.Context(), "alice")
		want := []Outcome{
			{Call: CallAllow, Result: allowed}, {Call: CallAllow, Result: denied}, {Call: CallPeek, Result: peeked},
			{Call: CallReserve, Result: r.Result}, {Call: CallCancel, Result: Result{Healed: true}}, {Call: CallAllow, Err: broken},
		}
		if !allowed.Healed || denied.Allowed || !errors.Is(broken, ErrUnreadable) || len(seen) != len(want) {
			t.Fatalf("%+v", seen)
		}
		for i := range want {
			if seen[i] != want[i] {
				t.Errorf("outcome %d is %+v, want %+v", i, seen[i], want[i])
			}
		}
	})
}

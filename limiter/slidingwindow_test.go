package limiter

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestSlidingWindowInAnyStretch: wherever a window is laid, no more than the
// limit was allowed in it; and who keeps within nine tenths of the limit in each
// of them is never refused.
func TestSlidingWindowInAnyStretch(t *testing.T) {
	const limit, window = 20, time.Minute
	w := miniWorld(t)
	l := mustNew(t, w.client, SlidingWindow{Limit: limit, Window: window})
	random := rand.New(rand.NewPCG(1, 1))
	var allowed []int64 // when, in microseconds
	refused := 0
	for range 3000 {
		// Bursts and pauses: most calls at once, some a third of a window later.
		d := time.Duration(random.IntN(100)) * time.Millisecond
		if random.IntN(30) == 0 {
			d = time.Duration(random.Int64N(int64(window/2))).Truncate(time.Millisecond) + window/10
		}
		if err := w.step(d); err != nil {
			t.Fatal(err)
		}
		got, err := l.Allow(t.Context(), "alice")
		if err != nil || got.Degraded {
			t.Fatalf("%+v, %v", got, err)
		}
		inWindow, inLonger := 0, 0
		for _, at := range allowed {
			if at > w.now-window.Microseconds() {
				inWindow++
			}
			if at > w.now-(window+window/tenths).Microseconds() {
				inLonger++
			}
		}
		switch {
		case got.Allowed && inWindow >= limit:
			t.Fatalf("call %d of a window was allowed", inWindow+1)
		case !got.Allowed && inLonger < limit:
			t.Fatalf("refused after %d calls in eleven tenths of a window", inLonger)
		case got.Allowed:
			allowed = append(allowed, w.now)
		default:
			refused++
		}
	}
	if len(allowed) < 400 || refused < 400 {
		t.Errorf("%d calls were allowed and %d refused: too few to tell", len(allowed), refused)
	}
}

// TestSlidingWindowRetryAfter: it is the first moment at which the same call is
// allowed.
func TestSlidingWindowRetryAfter(t *testing.T) {
	retryAfter(t, SlidingWindow{Limit: 10, Window: time.Minute})
}

// retryAfter calls a limiter empty, and again a ms before and when it says.
func retryAfter(t *testing.T, p Policy) {
	t.Helper()
	w := miniWorld(t)
	l := mustNew(t, w.client, p)
	for i := range 20 {
		n := int64(1 + i%7)
		got, err := l.AllowN(t.Context(), "alice", n)
		if err != nil {
			t.Fatal(err)
		}
		if got.Allowed {
			continue
		}
		for _, early := range []time.Duration{time.Millisecond, 0} {
			if err := w.step(got.RetryAfter - early); err != nil {
				t.Fatal(err)
			}
			got.RetryAfter = early
			again, err := l.AllowN(t.Context(), "alice", n)
			if err != nil || again.Allowed != (early == 0) {
				t.Fatalf("%v early: %+v, %v", early, again, err)
			}
		}
	}
}

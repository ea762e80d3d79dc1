package limiter

import (
	"errors"
	"testing"
	"time"
)

// reserving is a limiter of 5 calls a minute, and its key.
func reserving(t *testing.T) (*world, *Limiter, string) {
	w := miniWorld(t)
	l := mustFixedWindow(t, w.client, 5, time.Minute)
	return w, l, mustKey(t, l, "alice")
}

func (w *world) want(t *testing.T, key string, want modelKey) {
	t.Helper()
	if got, err := w.look(t.Context(), key); got != want || err != nil {
		t.Errorf("the key is %+v, %v, want %+v", got, err, want)
	}
}

func mustReserve(t *testing.T, l *Limiter, n int64) *Reservation {
	t.Helper()
	r, err := l.Reserve(t.Context(), "alice", n)
	if err != nil || !r.Allowed {
		t.Fatalf("%+v, %v", r, err)
	}
	return r
}

// TestReserve is the story of a window: what is reserved is not there for
// others, what is not used is again, and nothing is settled twice.
func TestReserve(t *testing.T) {
	w, l, key := reserving(t)
	end := w.now/1000 + 60000
	first, second := mustReserve(t, l, 3), mustReserve(t, l, 2)
	if got, err := l.Reserve(t.Context(), "alice", 1); err != nil || got.Allowed {
		t.Errorf("a sixth call: %+v, %v", got, err)
	} else if err := got.Commit(t.Context(), 1); !errors.Is(err, ErrSettled) {
		t.Errorf("to commit what was refused: %v", err)
	}
	if err := first.Commit(t.Context(), 4); !errors.Is(err, ErrCost) {
		t.Errorf("to commit more than was reserved: %v", err)
	}
	if err := first.Commit(t.Context(), -1); !errors.Is(err, ErrCost) {
		t.Errorf("to commit less than nothing: %v", err)
	}
	if err := w.step(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(t.Context(), 1); err != nil {
		t.Error(err)
	}
	w.want(t, key, modelKey{"string", "3", end})
	if err := second.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	w.want(t, key, modelKey{"string", "1", end})
	for _, err := range []error{first.Cancel(t.Context()), second.Commit(t.Context(), 1)} {
		if !errors.Is(err, ErrSettled) {
			t.Errorf("to settle twice: %v", err)
		}
	}
	w.want(t, key, modelKey{"string", "1", end})
}

// TestReserveAndLater: after the window a cancellation does nothing, and a
// commitment opens the next one.
func TestReserveAndLater(t *testing.T) {
	w, l, key := reserving(t)
	cancelled, committed := mustReserve(t, l, 2), mustReserve(t, l, 3)
	if err := w.step(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := cancelled.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	w.want(t, key, noKey)
	if err := committed.Commit(t.Context(), 2); err != nil {
		t.Error(err)
	}
	w.want(t, key, modelKey{"string", "2", w.now/1000 + 60000})

	// Nor does one touch the window of others.
	last := mustReserve(t, l, 3)
	if err := w.step(time.Minute); err != nil {
		t.Fatal(err)
	}
	mustReserve(t, l, 5)
	if err := last.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	w.want(t, key, modelKey{"string", "5", w.now/1000 + 60000})
}

// TestReserveIsLeft: what a process that died had reserved ends with its window.
func TestReserveIsLeft(t *testing.T) {
	w, l, _ := reserving(t)
	mustReserve(t, l, 5)
	if err := w.step(59999 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Allow(t.Context(), "alice"); err != nil || got.Allowed {
		t.Errorf("a ms before: %+v, %v", got, err)
	}
	if err := w.step(time.Millisecond); err != nil {
		t.Fatal(err)
	}
	mustReserve(t, l, 5)
}

// TestReserveInSeveralWindows: one has ended at the commitment, one has not.
func TestReserveInSeveralWindows(t *testing.T) {
	w := miniWorld(t)
	l := mustNew(t, w.client, FixedWindow{Limit: 5, Window: time.Minute}, FixedWindow{Limit: 9, Window: hour})
	keys, err := l.Keys("alice")
	if err != nil {
		t.Fatal(err)
	}
	end := w.now/1000 + hour.Milliseconds()
	r := mustReserve(t, l, 4)
	if err := w.step(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), 3); err != nil {
		t.Error(err)
	}
	w.want(t, keys[0], modelKey{"string", "3", w.now/1000 + 60000})
	w.want(t, keys[1], modelKey{"string", "3", end})
}

// This file owns what policies have in common: what a script is told about a
// window, and the bounds of its numbers. Each policy is a file with a script.

package limiter

import (
	"fmt"
	"time"
)

const (
	// MaxLimit is 2^53: up to there a script counts exactly, because numbers
	// in Redis' Lua are doubles.
	MaxLimit = 1 << 53
	// MinWindow is the shortest window, and the smallest TTL Redis has.
	MinWindow = time.Millisecond
	// MaxWindow is a leap year. A longer window is taken for a mistake of units,
	// such as a unix time passed as a duration: Redis would not object.
	MaxWindow = 366 * 24 * time.Hour
)

// Policy says how much a subject may do: a [FixedWindow], a [SlidingWindow] or
// a [TokenBucket].
type Policy interface {
	// MaxTTL is the longest TTL that a key of the policy can have, and so the
	// max TTL to give to the exporter for its keys.
	MaxTTL() time.Duration

	// window is the policy as a script knows it, or what is wrong with it: an
	// error that wraps ErrLimit, ErrWindow or ErrRate.
	window() (window, error)
}

// window is one key of a subject.
type window struct {
	policy string // as the scripts name it
	script string // how they read and write it
	name   string // ends the key: windows of one name share their counts
	limit  int64
	rate   float64 // calls that come back a second, for FailLocal
	ttl    time.Duration
	a, b   int64 // the policy's own, see its script; 0 where it has none
}

func (w window) args() []any {
	args := []any{w.ttl.Milliseconds(), w.limit}
	if w.a != 0 {
		args = append(args, w.a, w.b)
	}
	return args
}

func checkLimit(limit int64) error {
	if limit < 1 || limit > MaxLimit {
		return fmt.Errorf("%w: %d is not 1 to 2^53", ErrLimit, limit)
	}
	return nil
}

func checkWindow(window time.Duration) error {
	switch {
	case window < MinWindow || window > MaxWindow:
		return fmt.Errorf("%w: %v is not %v to %v", ErrWindow, window, MinWindow, MaxWindow)
	case window%time.Millisecond != 0:
		return fmt.Errorf("%w: %v is not a whole number of milliseconds", ErrWindow, window)
	}
	return nil
}

// roundUp is d in whole units.
func roundUp(d, unit time.Duration) time.Duration {
	return (d + unit - 1) / unit * unit
}

// This file owns the fixed window: its configuration, its calls and what its
// script's answer means. The decision itself is fixedwindow.lua.

package limiter

import (
	"context"
	_ "embed" // for the script
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

//go:embed fixedwindow.lua
var fixedWindowSource string

// FixedWindowConfig is what a fixed window is made from.
type FixedWindowConfig struct {
	// Limit is how many calls a subject may make a window: 1 to MaxLimit.
	// Limiters with the same prefix and window share their counts, so a
	// changed limit applies to the window that is running.
	Limit int64
	// Window is from the first call that is counted until the count is
	// forgotten: MinWindow to MaxWindow, in whole milliseconds.
	Window time.Duration
	// Prefix starts every key. It must not contain { or }. Default:
	// DefaultPrefix.
	Prefix string
}

// FixedWindow allows Limit calls a window, which starts with the first call
// that is counted and ends Window later. Like every fixed window it can allow
// up to twice the limit around the end of one: the last calls of a window and
// the first of the next.
//
// Its keys are strings named "<prefix>:{<subject>}:fixed:<window>", each the
// count with the rest of the window as its TTL.
type FixedWindow struct {
	client client
	names  keyNames
	limit  int64
	window time.Duration
	script script
}

var _ Limiter = (*FixedWindow)(nil)

// NewFixedWindow returns a fixed window that keeps its counts in the server of
// c, any client of go-redis. It sends nothing. The error wraps ErrLimit,
// ErrWindow or ErrPrefix.
func NewFixedWindow(c client, config FixedWindowConfig) (*FixedWindow, error) {
	if config.Limit < 1 || config.Limit > MaxLimit {
		return nil, fmt.Errorf("limiter: %w: %d is not 1 to 2^53", ErrLimit, config.Limit)
	}
	if err := checkWindow(config.Window); err != nil {
		return nil, err
	}
	names, err := newKeyNames(config.Prefix, "fixed", config.Window)
	if err != nil {
		return nil, err
	}
	return &FixedWindow{
		client: c,
		names:  names,
		limit:  config.Limit,
		window: config.Window,
		script: newScript(fixedWindowSource),
	}, nil
}

func checkWindow(window time.Duration) error {
	switch {
	case window < MinWindow || window > MaxWindow:
		return fmt.Errorf("limiter: %w: %v is not %v to %v", ErrWindow, window, MinWindow, MaxWindow)
	case window%time.Millisecond != 0:
		return fmt.Errorf("limiter: %w: %v is not a whole number of milliseconds", ErrWindow, window)
	}
	return nil
}

// Allow implements [Limiter].
func (l *FixedWindow) Allow(ctx context.Context, subject string) (Result, error) {
	return l.AllowN(ctx, subject, 1)
}

// AllowN implements [Limiter].
func (l *FixedWindow) AllowN(ctx context.Context, subject string, n int64) (Result, error) {
	if n < 1 || n > l.limit {
		return Result{}, fmt.Errorf("limiter: %w: %d is not 1 to the limit of %d", ErrCost, n, l.limit)
	}
	return l.decide(ctx, subject, n, "count")
}

// Peek implements [Limiter]. It is the same script as Allow, which stops
// before its write: it wants a server that takes writes, and the right to run
// scripts, though it makes none.
func (l *FixedWindow) Peek(ctx context.Context, subject string) (Result, error) {
	return l.decide(ctx, subject, 1, "peek")
}

// MaxTTL implements [Limiter]: the window.
func (l *FixedWindow) MaxTTL() time.Duration { return l.window }

// Key is the name of the subject's key, for who wants to look at it or delete
// it. The error is ErrSubject.
func (l *FixedWindow) Key(subject string) (string, error) { return l.names.of(subject) }

func (l *FixedWindow) decide(ctx context.Context, subject string, cost int64, mode string) (Result, error) {
	key, err := l.names.of(subject)
	if err != nil {
		return Result{}, err
	}
	reply, err := l.script.run(ctx, l.client, key, l.limit, l.window.Milliseconds(), cost, mode)
	if err != nil {
		return Result{}, fmt.Errorf("limiter: fixed window: %w", err)
	}
	if len(reply) != 4 {
		return Result{}, fmt.Errorf("limiter: fixed window: %w: %d numbers", errReply, len(reply))
	}
	result := Result{
		Allowed:    reply[0] == 1,
		Limit:      l.limit,
		Remaining:  reply[1],
		ResetAfter: time.Duration(reply[2]) * time.Millisecond,
		Healed:     reply[3] == 1,
	}
	if !result.Allowed {
		result.RetryAfter = result.ResetAfter
	}
	return result, nil
}

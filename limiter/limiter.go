// This file owns the limiter: how it is made, and its decisions. What a policy
// is, how a script is sent and what holds without Redis have files of their own.

package limiter

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Options are what a limiter is made from, beside its policies.
type Options struct {
	// Down is what holds while Redis gives no answer: FailOpen, FailClosed or
	// FailLocal. There is no default.
	Down Down
	// LocalShare is what part of the limit this process allows by itself under
	// FailLocal: above 0 and up to 1, one divided by the number of processes.
	LocalShare float64
	// Prefix starts every key. It must not contain { or }. Default:
	// DefaultPrefix.
	Prefix string
	// Replace has a key of another type, or with a value that is no state of
	// the policy, replaced like any that is sick. Default: such a key is an
	// error, ErrWrongType or ErrUnreadable, and left alone.
	Replace bool
	// Observe is called once at the end of every call that was sent to Redis,
	// by the goroutine that made it, and must not block. Default: none.
	Observe func(Outcome)
}

// Limiter decides whether a subject may make another call. A subject is any
// name that is limited on its own: a user, an address, an API key. It may hold
// any bytes and must not be empty ([ErrSubject]).
//
// A call that returns an error is no decision, and its Result is the zero
// value. The error wraps [ErrSubject], [ErrCost], [ErrWrongType],
// [ErrUnreadable], or is that of a context that was cancelled. That Redis is
// down is no error: [Options.Down] decides then.
//
// All methods may be called from several goroutines.
type Limiter struct {
	client  client
	options Options
	windows []window
	names   keyNames
	least   int64 // the smallest limit
	args    []any // the windows, as the scripts want them
	scripts scripts
	local   *local
}

// New returns a limiter that keeps its counts in the server of c, any client of
// go-redis. With several policies, such as one a minute and one a day, a call
// is allowed by all and counted in each of them, or in none. It sends nothing. The error wraps one
// of ErrLimit, ErrWindow, ErrRate, ErrPrefix, ErrPolicies, ErrClient, ErrDown or ErrShare.
func New(c client, o Options, policies ...Policy) (*Limiter, error) {
	l, err := newLimiter(c, o, policies)
	if err != nil {
		return nil, fmt.Errorf("limiter: %w", err)
	}
	return l, nil
}

func newLimiter(c client, o Options, policies []Policy) (*Limiter, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if isNil(c) {
		return nil, ErrClient
	}
	if len(policies) == 0 || slices.ContainsFunc(policies, func(p Policy) bool { return isNil(p) }) {
		return nil, ErrPolicies
	}
	l := &Limiter{client: c, options: o, least: MaxLimit}
	for _, p := range policies {
		w, err := p.window()
		if err != nil {
			return nil, err
		}
		l.windows = append(l.windows, w)
		l.least = min(l.least, w.limit)
		l.args = append(l.args, w.args()...)
	}
	var err error
	l.names, err = newKeyNames(o.Prefix, l.windows)
	l.scripts = newScripts(l.windows, o.Replace)
	l.local = newLocal(l.windows, o.LocalShare)
	return l, err
}

// isNil holds for no value and for a nil pointer, whose methods would panic.
func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil()
}

// Allow is AllowN with n = 1.
func (l *Limiter) Allow(ctx context.Context, subject string) (Result, error) {
	return l.AllowN(ctx, subject, 1)
}

// AllowN asks for n calls at once and counts all of them or, when it refuses,
// none. n is 1 to the smallest limit; outside of that no wait would ever help,
// and the error is ErrCost.
//
// Every key that it meets has 0 < PTTL <= MaxTTL afterwards, or is gone. A key
// in a state that this package never writes (without TTL, with a TTL above
// MaxTTL, with a count below zero) is replaced by a fresh one, which the call is
// judged by and counted in: whom such a key had locked out gets in at once.
func (l *Limiter) AllowN(ctx context.Context, subject string, n int64) (Result, error) {
	result, _, err := l.ask(ctx, CallAllow, subject, n)
	return result, err
}

// Peek tells what Allow would answer now, without counting. It writes nothing
// and creates nothing. Of a key that Allow would heal it reports what Allow
// would then find, and Healed is false.
func (l *Limiter) Peek(ctx context.Context, subject string) (Result, error) {
	result, _, err := l.ask(ctx, CallPeek, subject, 1)
	return result, err
}

// MaxTTL is the longest TTL that a key of this limiter can have: that of its
// longest policy.
func (l *Limiter) MaxTTL() time.Duration {
	longest := time.Duration(0)
	for _, w := range l.windows {
		longest = max(longest, w.ttl)
	}
	return longest
}

// Keys are the names of the subject's keys, one a policy and in their order,
// for who wants to look at them or delete them. The error is ErrSubject.
func (l *Limiter) Keys(subject string) ([]string, error) { return l.names.of(subject) }

// ask sends a decision to Redis, and decides without where it does not answer.
// The reply is nil then.
func (l *Limiter) ask(ctx context.Context, call, subject string, n int64) (result Result, reply []any, err error) {
	if n < 1 || n > l.least {
		return Result{}, nil, fmt.Errorf("limiter: %w: %d is not 1 to the limit of %d", ErrCost, n, l.least)
	}
	keys, err := l.names.of(subject)
	if err != nil {
		return Result{}, nil, err
	}
	decide := l.scripts.take
	switch call {
	case CallPeek:
		decide = l.scripts.peek
	case CallReserve:
		decide = l.scripts.reserve
	}
	if reply, err = decide.run(ctx, l.client, keys, l.arguments(n)); err == nil {
		var ok bool
		if result, ok = l.decision(reply); !ok {
			result, err = Result{}, errReply
		}
	}
	if err != nil {
		err = fmt.Errorf("limiter: %w", err)
		reply = nil
	}
	outcome := Outcome{Call: call, Result: result, Err: err}
	if isDown(err) && !errors.Is(ctx.Err(), context.Canceled) {
		result, err = l.withoutRedis(subject, n, call == CallPeek), nil
		outcome.Result = result
	}
	l.observe(outcome)
	return result, reply, err
}

// arguments are those of a script: what the call costs, and the windows.
func (l *Limiter) arguments(costs ...any) []any {
	return append(append(make([]any, 0, len(costs)+len(l.args)+len(l.windows)), costs...), l.args...)
}

func (l *Limiter) observe(o Outcome) {
	if l.options.Observe != nil {
		l.options.Observe(o)
	}
}

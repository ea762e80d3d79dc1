// This file owns what the broken limiters have in common: how they are made,
// called, interrupted and described. The limiters are a file each, the list is
// all.go.

package flawed

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Limiter answers whether a subject may make a call. An error is no answer;
// what the limiter had written by then stays.
type Limiter interface {
	Allow(ctx context.Context, subject string) (bool, error)
}

// Options are what every limiter here is made from.
type Options struct {
	// Limit is the calls a window: 2 or more, for fewer hide some faults.
	Limit int64
	// Window is at least a second, in whole seconds: most of what people write
	// cannot do less.
	Window time.Duration
	// Hook is called between commands. Default: none.
	Hook Hook
}

// Hook is called after a step of a limiter and before its next command. While
// it runs, others go on: it may expire the key, or call the limiter for
// someone else. If it returns an error the call ends there with that error, as
// when the process dies or the connection is lost; after StepWork the error
// means that the work failed.
type Hook func(ctx context.Context, at Step) error

// Step is a place in a limiter.
type Step struct {
	Name string // one of the constants
	Key  string // the key that the limiter is at work on
}

// The steps, named after the command that has just been answered.
const (
	StepExists = "exists"
	StepTTL    = "ttl"
	StepIncr   = "incr"
	StepGet    = "get"
	// StepWork is the caller's own work, which takes seconds, in the limiters
	// that charge after it or give the charge back.
	StepWork = "work"
)

// Fault is what is wrong with a limiter, seen from outside.
type Fault string

// The faults. Zombie and LocksOut say that nothing but a person ends it.
const (
	Zombie      Fault = "leaves a key without TTL"
	LocksOut    Fault = "refuses a caller for ever"
	OverAdmits  Fault = "allows more than the limit"
	UnderAdmits Fault = "allows less than the limit"
	ResetsEarly Fault = "forgets the count before the window ends"
	Negative    Fault = "leaves a count below zero"
	TooLong     Fault = "leaves a TTL above the window"
	Prolongs    Fault = "prolongs the window at a refused call"
)

// Case is a broken limiter with its story.
type Case struct {
	Name   string // words joined by hyphens, unique
	Story  string // one sentence without a full stop
	Prefix string // its keys are Prefix + subject; unique
	// Faults are all that the limiter has. The first is what Break brings
	// about.
	Faults []Fault
	// New makes the limiter. It sends nothing.
	New func(c redis.Cmdable, o Options) Limiter
	// Break calls the limiter for the subject and forces what breaks it, so
	// that its key is left as the fault leaves it. It needs a few commands, at
	// most twice the limit, and no waiting. The hook of o is not used; an
	// error is one of the server.
	Break func(ctx context.Context, c redis.Cmdable, o Options, subject string) error
}

// Key is the name of the subject's key.
func (c Case) Key(subject string) string { return c.Prefix + subject }

// Pattern is the glob that its keys match.
func (c Case) Pattern() string { return c.Prefix + "*" }

// Has says whether the limiter has the fault.
func (c Case) Has(f Fault) bool { return slices.Contains(c.Faults, f) }

// errLost is the end that Break puts to a call: a lost connection, failed work.
var errLost = errors.New("flawed: lost on purpose")

// after calls the hook, if there is one.
func (o Options) after(ctx context.Context, step, key string) error {
	if o.Hook == nil {
		return nil
	}
	return o.Hook(ctx, Step{Name: step, Key: key})
}

// seconds is the window as most programs pass it to EXPIRE.
func (o Options) seconds() int64 { return int64(o.Window.Seconds()) }

// with is o with another hook.
func (o Options) with(h Hook) Options {
	o.Hook = h
	return o
}

// expireAt is a hook that lets the key run out after the step. A time in the
// past deletes the key at once, as its own TTL would have.
func expireAt(c redis.Cmdable, step string) Hook {
	return func(ctx context.Context, at Step) error {
		if at.Name != step {
			return nil
		}
		return c.PExpireAt(ctx, at.Key, time.UnixMilli(1)).Err()
	}
}

// loseAt is a hook that ends the call after the step.
func loseAt(step string) Hook {
	return func(_ context.Context, at Step) error {
		if at.Name == step {
			return errLost
		}
		return nil
	}
}

// call asks n times and reports an error of the server. That a call was lost
// on purpose is none.
func call(ctx context.Context, l Limiter, subject string, n int64) error {
	for range n {
		if _, err := l.Allow(ctx, subject); err != nil && !errors.Is(err, errLost) {
			return err
		}
	}
	return nil
}

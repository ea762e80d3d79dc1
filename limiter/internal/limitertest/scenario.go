// This file owns the scenario: what is done to a limiter, and which fault is
// seen by what.

package limitertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"keyhealth/limiter/flawed"
)

// Callers is how many goroutines call at the same moment.
const Callers = 64

// Candidate is a limiter on trial.
type Candidate struct {
	// New makes the limiter; a sound one has no use for the hook.
	New func(flawed.Hook) flawed.Limiter
	// Key is the name of a subject's key.
	Key func(subject string) string
	// Limit is 2 to Callers - 1.
	Limit int64
	// MaxTTL is the longest TTL its keys may have. It must be too long to pass
	// during a test.
	MaxTTL time.Duration
}

// Run puts the candidate through the scenario, which takes subjects of its own,
// and returns the faults that it saw, in alphabetical order. It fails t only
// when the server does.
func Run(t testing.TB, s *Server, c Candidate) []flawed.Fault {
	t.Helper()
	r := &run{t: t, s: s, c: c, faults: map[flawed.Fault]bool{}}
	r.sequence()
	r.crowd()
	for _, step := range r.steps() {
		r.expireAt(step, nil)
		r.expireAt(step, errEnd)
		r.endAt(step)
	}
	r.oldZombie()
	r.lastMoments()
	r.persistence()
	return slices.Sorted(maps.Keys(r.faults))
}

// errEnd is how the scenario ends a call in the middle.
var errEnd = errors.New("the process ended here")

type run struct {
	t      testing.TB
	s      *Server
	c      Candidate
	faults map[flawed.Fault]bool
}

// allow is one call; an error is a refusal, as it is to the caller.
func (r *run) allow(l flawed.Limiter, subject string) bool {
	allowed, err := l.Allow(r.t.Context(), subject)
	return err == nil && allowed
}

// check looks at a subject's key after the calls on it.
func (r *run) check(subject string) {
	r.t.Helper()
	k := r.s.Look(r.t, r.c.Key(subject))
	switch {
	case k.TTL == NoTTL || k.TTL == 0:
		r.faults[flawed.Zombie] = true
	case k.TTL > r.c.MaxTTL:
		r.faults[flawed.TooLong] = true
	}
	if n, err := strconv.ParseInt(k.Value, 10, 64); err == nil && n < 0 {
		r.faults[flawed.Negative] = true
	}
}

// pass lets a window pass for the subject.
func (r *run) pass(subject string) {
	r.t.Helper()
	if err := r.s.Expire(r.t.Context(), r.c.Key(subject)); err != nil {
		r.t.Fatalf("let a window pass: %v", err)
	}
}

// judge compares what was allowed in one window with the limit.
func (r *run) judge(allowed int64) {
	switch {
	case allowed > r.c.Limit:
		r.faults[flawed.OverAdmits] = true
	case allowed < r.c.Limit:
		r.faults[flawed.UnderAdmits] = true
	}
}

// sequence is one caller who asks for twice the limit, one call after the
// other, and once more when the window is over.
func (r *run) sequence() {
	const subject = "sequence"
	l := r.c.New(nil)
	allowed := int64(0)
	for range 2 * r.c.Limit {
		if r.allow(l, subject) {
			allowed++
		}
	}
	r.judge(allowed)
	r.check(subject)
	r.pass(subject)
	if !r.allow(l, subject) {
		r.faults[flawed.LocksOut] = true
	}
	r.check(subject)
}

// crowd is all callers at the same moment: none gets beyond its first step
// before each has either reached it or been answered.
func (r *run) crowd() {
	const subject = "crowd"
	var arrived, done sync.WaitGroup
	var mu sync.Mutex
	allowed := int64(0)
	arrived.Add(Callers)
	for range Callers {
		done.Go(func() {
			arrive := sync.OnceFunc(arrived.Done)
			ok := r.allow(r.c.New(func(context.Context, flawed.Step) error {
				arrive()
				arrived.Wait()
				return nil
			}), subject)
			arrive()
			mu.Lock()
			defer mu.Unlock()
			if ok {
				allowed++
			}
		})
	}
	done.Wait()
	r.judge(allowed)
	r.check(subject)
}

// steps are the steps of a call on a new key and of one on an old key.
func (r *run) steps() []string {
	var steps []string
	l := r.c.New(func(_ context.Context, at flawed.Step) error {
		if !slices.Contains(steps, at.Name) {
			steps = append(steps, at.Name)
		}
		return nil
	})
	r.allow(l, "steps")
	r.allow(l, "steps")
	return steps
}

// expireAt lets the window end after a step of the second call, which then
// goes on or ends with err.
func (r *run) expireAt(step string, err error) {
	subject := strings.Join([]string{"expire", step, strconv.FormatBool(err != nil)}, "-")
	r.allow(r.c.New(nil), subject)
	r.allow(r.c.New(func(ctx context.Context, at flawed.Step) error {
		if at.Name != step {
			return nil
		}
		return errors.Join(r.s.Expire(ctx, at.Key), err)
	}), subject)
	r.check(subject)
}

// endAt ends the first call after a step.
func (r *run) endAt(step string) {
	subject := "end-" + step
	r.allow(r.c.New(func(_ context.Context, at flawed.Step) error {
		if at.Name == step {
			return errEnd
		}
		return nil
	}), subject)
	r.check(subject)
}

// oldZombie is a caller at the limit whose key has lost its TTL, whatever did
// that. He has to be let in again, at the latest a window after his next call.
func (r *run) oldZombie() {
	const subject = "zombie"
	l := r.c.New(nil)
	for range r.c.Limit {
		r.allow(l, subject)
	}
	if err := r.s.Client.Persist(r.t.Context(), r.c.Key(subject)).Err(); err != nil {
		r.t.Fatalf("take the TTL away: %v", err)
	}
	now := r.allow(l, subject)
	r.check(subject)
	r.pass(subject)
	if later := r.allow(l, subject); !now && !later {
		r.faults[flawed.LocksOut] = true
	}
	r.check(subject)
}

// lastMoments is a caller at the limit with 400 ms left, which TTL rounds to 0.
func (r *run) lastMoments() {
	const subject = "last-moments"
	key, l := r.c.Key(subject), r.c.New(nil)
	var allowed bool
	fill := func() {
		if err := r.s.Client.Del(r.t.Context(), key).Err(); err != nil {
			r.t.Fatalf("delete a key: %v", err)
		}
		for range r.c.Limit {
			r.allow(l, subject)
		}
	}
	r.s.Nearly(r.t, key, 400*time.Millisecond, fill, func() { allowed = r.allow(l, subject) })
	if allowed {
		r.faults[flawed.ResetsEarly] = true
	}
}

// persistence is a caller at the limit who pauses or tries again: the count
// outlives a tenth of the longest TTL, and the window does not begin anew.
func (r *run) persistence() {
	const subject = "persistence"
	key, l := r.c.Key(subject), r.c.New(nil)
	for range r.c.Limit {
		r.allow(l, subject)
	}
	if ttl := r.s.Look(r.t, key).TTL; ttl > 0 && ttl < r.c.MaxTTL/10 {
		r.faults[flawed.ResetsEarly] = true
	}
	half := r.c.MaxTTL / 2
	if err := r.s.Client.PExpire(r.t.Context(), key, half).Err(); err != nil {
		r.t.Fatalf("cut the TTL: %v", err)
	}
	if !r.allow(l, subject) && r.s.Look(r.t, key).TTL > half {
		r.faults[flawed.Prolongs] = true
	}
}

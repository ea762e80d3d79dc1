// This file owns the property: whatever happens to a key, each answer is the
// one of a model in plain Go, and the key is sound after every call.

package limiter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"keyhealth/limiter/internal/limitertest"
)

// The limits of the random runs: a small one, and the largest there is, where
// doubles begin to fail.
var propertyLimits = []int64{1, 5, MaxLimit}

func TestFixedWindowProperty(t *testing.T) {
	const seeds, steps = 8, 120
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		for _, limit := range propertyLimits {
			for seed := range uint64(seeds) {
				p := &property{
					T:       t,
					Server:  s,
					random:  rand.New(rand.NewPCG(seed, uint64(limit))),
					limiter: mustFixedWindow(t, s.Client, limit, hour),
					subject: fmt.Sprintf("limit %d, seed %d", limit, seed),
				}
				p.key = mustKey(t, p.limiter, p.subject)
				for range steps {
					p.step()
					if t.Failed() {
						t.Fatalf("%s: the last steps were %q", p.subject, p.history[max(0, len(p.history)-5):])
					}
				}
			}
		}
	})
}

// property is a run over one subject, with a model of what its key holds.
type property struct {
	*testing.T
	*limitertest.Server
	random       *rand.Rand
	limiter      *FixedWindow
	subject, key string
	history      []string

	count   int64 // in the window that runs
	running bool
	sick    bool  // a call heals it
	broken  error // a call gives it and changes nothing
}

func (p *property) step() {
	switch p.random.IntN(10) {
	case 0, 1, 2:
		p.plant()
	case 3:
		p.note("expire")
		if err := p.Expire(p.Context(), p.key); err != nil {
			p.Fatal(err)
		}
		if p.Look(p.T, p.key).Type == "none" { // what has no TTL stays
			p.set(0, false, false, nil)
		}
	case 4:
		p.note("forget the script")
		run(p.T, p.Server, "SCRIPT", "FLUSH")
	case 5, 6:
		p.peek()
	default:
		p.allow()
	}
}

func (p *property) note(format string, args ...any) {
	p.history = append(p.history, fmt.Sprintf(format, args...))
}

func (p *property) set(count int64, running, sick bool, broken error) {
	p.count, p.running, p.sick, p.broken = count, running, sick, broken
}

// plant replaces the key by anything that somebody could have left there.
func (p *property) plant() {
	limit := p.limiter.limit
	near := []int64{0, 1, limit - 1, limit, limit + 1, 1<<63 - 1}
	count := near[p.random.IntN(len(near))]
	ttls := []time.Duration{hour, 30 * time.Minute}
	var command []any
	switch p.random.IntN(6) {
	case 0:
		command = []any{"SET", p.key, count}
		p.set(count, true, true, nil)
	case 1:
		command = []any{"SET", p.key, count, "PX", (2 * hour << p.random.IntN(16)).Milliseconds()}
		p.set(count, true, true, nil)
	case 2:
		command = []any{"SET", p.key, -1 - count, "PX", hour.Milliseconds()}
		p.set(-1, true, true, nil)
	case 3:
		command = []any{"SET", p.key, count, "PX", ttls[p.random.IntN(2)].Milliseconds()}
		p.set(count, true, false, nil)
	case 4:
		texts := []string{"", "x", "1.5", "0x10", "007", "1e3"}
		command = []any{"SET", p.key, texts[p.random.IntN(len(texts))]}
		p.set(0, false, false, ErrNotACount)
	case 5:
		others := [][]any{{"LPUSH", p.key, "1"}, {"HSET", p.key, "count", "1"}, {"ZADD", p.key, "1", "x"}}
		command = others[p.random.IntN(len(others))]
		p.set(0, false, false, ErrWrongType)
	}
	p.note("%v", command)
	run(p.T, p.Server, "DEL", p.key)
	run(p.T, p.Server, command...)
}

// left is what the model says a call would find.
func (p *property) left() int64 {
	if !p.running || p.sick {
		return p.limiter.limit
	}
	return max(0, p.limiter.limit-p.count)
}

func (p *property) allow() {
	p.Helper()
	limit := p.limiter.limit
	costs := []int64{1, limit, 1 + p.random.Int64N(limit), max(1, min(limit, p.left()))}
	n := costs[p.random.IntN(len(costs))]
	p.note("AllowN(%d)", n)
	before := p.Look(p.T, p.key)
	got, err := p.limiter.AllowN(p.Context(), p.subject, n)
	if p.broken != nil {
		p.unchanged(before)
		p.wantError(err)
		return
	}
	want := Result{Allowed: n <= p.left(), Limit: limit, Remaining: p.left(), Healed: p.sick}
	if want.Allowed {
		want.Remaining -= n
		p.set(limit-want.Remaining, true, false, nil)
	}
	p.want(got, err, want)
	if k := p.Look(p.T, p.key); k.TTL <= 0 || k.TTL > p.limiter.MaxTTL() || k.Type != "string" {
		p.Errorf("the key is %+v", k)
	} else if want.Allowed && k.Value != fmt.Sprint(p.count) || !want.Allowed && k.Value != before.Value {
		p.Errorf("the key is %+v, was %+v, want the count %d", k, before, p.count)
	}
}

func (p *property) peek() {
	p.Helper()
	p.note("Peek")
	before := p.Look(p.T, p.key)
	got, err := p.limiter.Peek(p.Context(), p.subject)
	p.unchanged(before)
	if p.broken != nil {
		p.wantError(err)
		return
	}
	p.want(got, err, Result{Allowed: p.left() > 0, Limit: p.limiter.limit, Remaining: p.left()})
}

func (p *property) wantError(err error) {
	p.Helper()
	if !errors.Is(err, p.broken) {
		p.Errorf("the error is %v, want %v", err, p.broken)
	}
}

// want compares all but the durations, and those with the law: a refusal says
// when to come back.
func (p *property) want(got Result, err error, want Result) {
	p.Helper()
	sound := got.ResetAfter >= 0 && got.ResetAfter <= p.limiter.MaxTTL()
	if got.Allowed {
		sound = sound && got.RetryAfter == 0
	} else {
		sound = sound && got.RetryAfter > 0 && got.RetryAfter == got.ResetAfter
	}
	want.RetryAfter, want.ResetAfter = got.RetryAfter, got.ResetAfter
	if err != nil || got != want || !sound {
		p.Errorf("the answer is %+v, %v, want %+v", got, err, want)
	}
}

func (p *property) unchanged(before limitertest.Key) {
	p.Helper()
	if after := p.Look(p.T, p.key); !after.Unchanged(before) {
		p.Errorf("the key is %+v, was %+v", after, before)
	}
}

// This file owns the property: whatever is called, whatever happens to the keys
// and to the clock in between, each answer is that of the model, and each key
// that a call met is what the model says, with 0 < PTTL <= MaxTTL.

package limiter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// steps is how many steps are made on each server: few by default, and as many
// as TEST_KEYHEALTH_STEPS says.
func steps(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("TEST_KEYHEALTH_STEPS")
	if !ok {
		return 4000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestProperty(t *testing.T) {
	check := func(t *testing.T, w *world) {
		calls := map[string]int{}
		for seed := uint64(0); calls["step"] < steps(t); seed++ {
			if err := newRun(w, seed, calls).steps(t.Context(), 100); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		t.Logf("steps by kind: %v", calls)
	}
	t.Run("miniredis", func(t *testing.T) { check(t, miniWorld(t)) })
	redistest.Run(t, "real", func(t *testing.T, binary string) { check(t, realWorld(t, binary)) })
}

// policySets are what the runs are made with: small limits, at which everything
// happens, and the largest numbers, where doubles begin to fail.
var policySets = [][]Policy{
	{FixedWindow{Limit: 5, Window: time.Minute}},
	{FixedWindow{Limit: MaxLimit, Window: time.Hour}},
	{SlidingWindow{Limit: 5, Window: time.Minute}},
	{SlidingWindow{Limit: MaxLimit, Window: 3 * time.Millisecond}},
	{TokenBucket{Capacity: 5, Refill: 3, Every: 7 * time.Second}},
	{TokenBucket{Capacity: 10000, Refill: 100, Every: time.Second}},
	{TokenBucket{Capacity: maxUnits / 1000, Refill: MaxRefill - 1, Every: time.Millisecond}},
	{FixedWindow{Limit: 3, Window: time.Second}, FixedWindow{Limit: 7, Window: time.Minute}},
	{FixedWindow{Limit: 4, Window: time.Minute}, SlidingWindow{Limit: 3, Window: 10 * time.Second}, TokenBucket{Capacity: 6, Refill: 1, Every: time.Second}},
}

// run is a subject that several processes call for.
type propertyRun struct {
	*world
	*model
	random   *rand.Rand
	limiters []*Limiter
	lose     *losing
	down     Result // what is answered without Redis
	subject  string
	names    []string
	reserved []held
	calls    map[string]int
	history  []string
}

// held is a reservation, and what the model knows of it.
type held struct {
	*Reservation
	marks []int64
}

// losing is a client that loses what is sent or what comes back, as a process
// that dies, or a connection that does, between any two commands.
type losing struct {
	client
	before, after bool
}

var errLost = errors.New("lost on purpose")

func (c *losing) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.lost(ctx, func() *redis.Cmd { return c.client.Eval(ctx, script, keys, args...) })
}

func (c *losing) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	return c.lost(ctx, func() *redis.Cmd { return c.client.EvalSha(ctx, sha1, keys, args...) })
}

func (c *losing) lost(ctx context.Context, send func() *redis.Cmd) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(errLost)
	if c.before {
		return cmd
	}
	if answer := send(); !c.after || redis.HasErrorPrefix(answer.Err(), "NOSCRIPT") {
		return answer
	}
	return cmd
}

// newRun makes a run; broken changes the limiters, for the test of mutations.
func newRun(w *world, seed uint64, calls map[string]int, broken ...func(*Limiter)) *propertyRun {
	r := &propertyRun{world: w, random: rand.New(rand.NewPCG(seed, 7)), calls: calls, subject: fmt.Sprintf("seed-%d", seed)}
	policies := policySets[seed%uint64(len(policySets))]
	o := Options{Down: []Down{FailClosed, FailOpen}[r.random.IntN(2)], Replace: r.random.IntN(3) == 0}
	r.down = Result{Allowed: o.Down == FailOpen, Degraded: true}
	r.lose = &losing{client: w.client}
	for i := range 3 {
		c := client(w.client)
		if i == 2 {
			c = r.lose
		}
		l, err := New(c, o, policies...)
		if err != nil {
			panic(err)
		}
		for _, b := range broken {
			b(l)
		}
		r.limiters = append(r.limiters, l)
	}
	r.names, _ = r.limiters[0].Keys(r.subject)
	r.model = &model{replace: o.Replace, windows: r.limiters[0].windows, keys: slices.Repeat([]modelKey{noKey}, len(policies))}
	return r
}

func (r *propertyRun) note(kind string, v ...any) {
	r.calls[kind]++
	r.history = append(r.history, fmt.Sprint(append([]any{kind, " "}, v...)...))
}

// steps makes n steps, and looks at the keys after each.
func (r *propertyRun) steps(ctx context.Context, n int) error {
	for range n {
		r.calls["step"]++
		r.model.now = r.world.now
		before := slices.Clone(r.model.keys)
		touched, err := r.step(ctx)
		if err == nil {
			err = r.check(ctx, touched)
		}
		if err != nil {
			return fmt.Errorf("%q replace %v, at %d, keys before %+v: %w\n%q", r.names, r.replace, r.world.now,
				before, err, r.history[max(0, len(r.history)-6):])
		}
	}
	return nil
}

// check compares the keys with those of the model. A call that gave no error
// has left each key that it met with a TTL in bounds.
func (r *propertyRun) check(ctx context.Context, touched bool) error {
	r.model.now = r.world.now
	for i, name := range r.names {
		got, err := r.look(ctx, name)
		want := r.keys[i]
		if r.expired(want) {
			want = noKey
			r.keys[i] = noKey
			// A server has it for a moment longer: with 0 ms left, and for good
			// if the clock were set back now.
			if err := r.client.Del(ctx, name).Err(); err != nil {
				return err
			}
		}
		if want.kind != "string" {
			want.value = ""
		}
		if err != nil || got != want {
			return fmt.Errorf("the key %s is %+v, %w, want %+v", name, got, err, want)
		}
		rest := got.when - r.model.now/1000
		if touched && got != noKey && (got.when == 0 || rest <= 0 || rest > r.windows[i].ttl.Milliseconds()) {
			return fmt.Errorf("the key %s is left as %+v, %d ms before its end", name, got, rest)
		}
	}
	return nil
}

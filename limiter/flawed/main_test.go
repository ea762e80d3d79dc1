// This file owns what the tests of the flaws have in common: servers, calls and
// what is wanted of a key.

package flawed_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"keyhealth/internal/redistest"
	"keyhealth/limiter/flawed"
	"keyhealth/limiter/internal/limitertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The limiters of the tests allow 5 calls an hour: the hour does not pass
// during a test, and 5 calls an hour is a rate below one a second.
const (
	limit  = 5
	window = time.Hour
)

// onServers repeats a test on miniredis and on every real server.
func onServers(t *testing.T, f func(*testing.T, *limitertest.Server)) {
	t.Run("miniredis", func(t *testing.T) {
		m := miniredis.RunT(t)
		o := &redis.Options{Addr: m.Addr()}
		limitertest.Patient(o)
		c := redis.NewClient(o)
		t.Cleanup(func() { _ = c.Close() })
		f(t, &limitertest.Server{Client: c, FastForward: m.FastForward})
	})
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		f(t, &limitertest.Server{Client: redistest.StartBinary(t, binary).Client(t, limitertest.Patient)})
	})
}

// subject is who the limiters are asked for, and onCase what a test of one
// flaw has at hand.
const subject = "alice"

type onCase struct {
	*testing.T
	*limitertest.Server
	flawed.Case
}

// forCase repeats a test of the named case on every server.
func forCase(t *testing.T, name string, f func(onCase)) {
	t.Helper()
	for _, c := range flawed.All() {
		if c.Name == name {
			onServers(t, func(t *testing.T, s *limitertest.Server) { f(onCase{t, s, c}) })
			return
		}
	}
	t.Fatalf("there is no case %s", name)
}

// limiter makes the limiter with a hook, which may be nil.
func (c onCase) limiter(h flawed.Hook) flawed.Limiter {
	return c.New(c.Client, flawed.Options{Limit: limit, Window: window, Hook: h})
}

// allowed calls n times and returns how many calls were allowed.
func (c onCase) allowed(l flawed.Limiter, n int) int {
	c.Helper()
	allowed := 0
	for range n {
		ok, err := l.Allow(c.Context(), subject)
		if err != nil {
			c.Fatalf("Allow: %v", err)
		}
		if ok {
			allowed++
		}
	}
	return allowed
}

// wantAllowed calls n times and wants so many of them allowed.
func (c onCase) wantAllowed(l flawed.Limiter, n, want int) {
	c.Helper()
	if got := c.allowed(l, n); got != want {
		c.Errorf("of %d calls %d were allowed, want %d", n, got, want)
	}
}

// wantZombie wants the key to be a string with this value, and without TTL.
func (c onCase) wantZombie(value string) {
	c.Helper()
	want := limitertest.Key{Type: "string", Value: value, TTL: limitertest.NoTTL}
	if got := c.Look(c.T, c.Key(subject)); got != want {
		c.Errorf("the key is %+v, want %+v", got, want)
	}
}

// wantCount wants the key to be a string with this value and a sound TTL.
func (c onCase) wantCount(value string) {
	c.Helper()
	got := c.Look(c.T, c.Key(subject))
	if got.Value != value || got.TTL <= 0 || got.TTL > window {
		c.Errorf("the key is %+v, want %s and a TTL up to %v", got, value, window)
	}
}

// set makes the key a string without TTL.
func (c onCase) set(value int) {
	c.Helper()
	if err := c.Client.Set(c.Context(), c.Key(subject), value, 0).Err(); err != nil {
		c.Fatal(err)
	}
}

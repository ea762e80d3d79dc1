package limiter

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"keyhealth/internal/redistest"
	"keyhealth/limiter/internal/limitertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hour is the window of most tests: it does not pass while they run.
const hour = time.Hour

// onServers repeats a test on miniredis and on every real server.
func onServers(t *testing.T, f func(*testing.T, *limitertest.Server)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		_, s := startMini(t)
		f(t, s)
	})
	onRealServers(t, f)
}

// onRealServers is for what miniredis does not have.
func onRealServers(t *testing.T, f func(*testing.T, *limitertest.Server)) {
	t.Helper()
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		f(t, &limitertest.Server{Client: redistest.StartBinary(t, binary).Client(t, limitertest.Patient)})
	})
}

// startMini starts a miniredis, for what only it can do.
func startMini(t *testing.T) (*miniredis.Miniredis, *limitertest.Server) {
	t.Helper()
	m := miniredis.RunT(t)
	o := &redis.Options{Addr: m.Addr()}
	limitertest.Patient(o)
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return m, &limitertest.Server{Client: c, FastForward: m.FastForward}
}

// mustNew makes a limiter that is valid.
func mustNew(t testing.TB, c client, policies ...Policy) *Limiter {
	t.Helper()
	return mustNewWith(t, c, Options{Down: FailClosed}, policies...)
}

func mustNewWith(t testing.TB, c client, o Options, policies ...Policy) *Limiter {
	t.Helper()
	l, err := New(c, o, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// mustFixedWindow makes a fixed window that is valid.
func mustFixedWindow(t testing.TB, c client, limit int64, window time.Duration) *Limiter {
	t.Helper()
	return mustNew(t, c, FixedWindow{Limit: limit, Window: window})
}

// mustKey is the subject's key of a limiter with one policy.
func mustKey(t testing.TB, l *Limiter, subject string) string {
	t.Helper()
	keys, err := l.Keys(subject)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	return keys[0]
}

// run sends a command that has to succeed.
func run(t testing.TB, s *limitertest.Server, command ...any) {
	t.Helper()
	if err := s.Client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
}

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

// mustFixedWindow makes a fixed window that is valid.
func mustFixedWindow(t testing.TB, c client, limit int64, window time.Duration) *FixedWindow {
	t.Helper()
	l, err := NewFixedWindow(c, FixedWindowConfig{Limit: limit, Window: window})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustKey(t testing.TB, l *FixedWindow, subject string) string {
	t.Helper()
	key, err := l.Key(subject)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// run sends a command that has to succeed.
func run(t testing.TB, s *limitertest.Server, command ...any) {
	t.Helper()
	if err := s.Client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
}

// What becomes of a self-test of the limiter in whose middle Redis hangs, when the
// process is told to stop then.

package exportertest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// started is a process that tests a server again and again, or once.
type started struct {
	signal func(os.Signal) error
	ended  <-chan struct{}
	code   func() int
	output func() string
}

func startServe(t *testing.T, settings Settings) started {
	e := Start(t, settings)
	return started{e.cmd.Process.Signal, e.ended, func() int { return e.cmd.ProcessState.ExitCode() }, e.Output}
}

func startSelfTest(t *testing.T, settings Settings) started {
	cmd, out, ended := exec.Command(Binary(t), "selftest"), &output{}, make(chan struct{})
	cmd.Env = os.Environ()
	for name, value := range settings {
		cmd.Env = append(cmd.Env, "KEYHEALTH_"+name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return started{cmd.Process.Signal, ended, func() int { return cmd.ProcessState.ExitCode() }, out.String}
}

// TestStopsInASelfTest: within 5 s, wherever it is, and what it leaves ends by
// itself.
func TestStopsInASelfTest(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(*testing.T, Settings) started
		at    string // the subject of the check that is going on
		with  os.Signal
		code  int
	}{
		{"serve, at the limit", startServe, "crowd", syscall.SIGTERM, 0},
		{"serve, at the TTLs", startServe, "calls", os.Interrupt, 0},
		{"serve, at the healing", startServe, "zombie", syscall.SIGTERM, 0},
		{"selftest, at the limit", startSelfTest, "crowd", os.Interrupt, 130},
		{"selftest, at the TTLs", startSelfTest, "calls", syscall.SIGTERM, 130},
		{"selftest, at the healing", startSelfTest, "zombie", os.Interrupt, 130},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := redistest.Start(t)
			admin := server.Client(t)
			slow := redistest.StartProxy(t, server.Addr())
			slow.SetDelay(10 * time.Millisecond)
			settings := quick(server)
			settings["REDIS_URL"], settings["REDIS_TIMEOUT"] = slow.URL(), "60s"
			settings["SELFTEST_INTERVAL"] = "10s"
			process := test.start(t, settings)
			waitUntil(t, "the check", func() bool {
				return strings.Contains(strings.Join(admin.Keys(t.Context(), "keyhealth-selftest:*").Val(), " "), "{"+test.at+"}")
			})
			server.Freeze(t)
			if err := process.signal(test.with); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			<-process.ended
			// 3 s or 4, and on a busy machine more: it is the 60 s that must not show.
			if took := time.Since(began); process.code() != test.code || took > 30*time.Second {
				t.Errorf("exit code %d after %v, want %d within 5 s: %s", process.code(), took, test.code, process.output())
			}
			server.Thaw(t)
			slow.Cut()
			waitUntil(t, "the end of what was sent", func() bool {
				return strings.Count(admin.ClientList(t.Context()).Val(), "\n") == 1
			})
			wantTTLs(t, admin)
		})
	}
}

// waitUntil waits for a condition.
func waitUntil(t *testing.T, wanted string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", wanted)
		}
	}
}

// wantTTLs wants every key to end in a day at most.
func wantTTLs(t *testing.T, c *redis.Client) {
	t.Helper()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if ttl, err := c.PTTL(context.Background(), key).Result(); err != nil || ttl <= 0 || ttl > 24*time.Hour {
			t.Errorf("%s is left with the TTL %v, %v", key, ttl, err)
		}
	}
}

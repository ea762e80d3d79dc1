package selftest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"keyhealth/internal/redistest"
	"keyhealth/limiter/internal/limitertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func onServers(t *testing.T, f func(t *testing.T, c redis.UniversalClient)) {
	t.Run("miniredis", func(t *testing.T) { f(t, mini(t)) })
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		f(t, redistest.StartBinary(t, binary).Client(t, limitertest.Patient))
	})
	redistest.Run(t, "cluster", func(t *testing.T, binary string) {
		f(t, redistest.StartClusterBinary(t, binary, 2).Client(t))
	})
}

func mini(t *testing.T) *redis.Client {
	o := &redis.Options{Addr: miniredis.RunT(t).Addr()}
	limitertest.Patient(o)
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// keys are all there are, on every node.
func keys(t *testing.T, c redis.UniversalClient) (all []string) {
	t.Helper()
	var mu sync.Mutex // the nodes are asked at the same time
	list := func(ctx context.Context, c *redis.Client) error {
		some, err := c.Keys(ctx, "*").Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, some...)
		return err
	}
	var err error
	if cluster, ok := c.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), list)
	} else {
		err = list(t.Context(), c.(*redis.Client))
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRun(t *testing.T) {
	onServers(t, func(t *testing.T, c redis.UniversalClient) {
		// What a run that was killed has left.
		if err := c.Set(t.Context(), "keyhealth-selftest:{zombie}:fixed:600s", 99, 0).Err(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			report, err := Run(t.Context(), c, Options{})
			if err != nil || !report.Passed() || report.Busy || report.Warning != "" {
				t.Errorf("%+v, %v", report, err)
			}
			var names []string
			for _, check := range report.Checks {
				names = append(names, check.Name)
			}
			if !slices.Equal(names, CheckNames()) {
				t.Errorf("the checks are %s, want %s", names, CheckNames())
			}
			if left := keys(t, c); len(left) != 0 {
				t.Errorf("left are %q", left)
			}
		}
	})
}

func TestRunIsBusy(t *testing.T) {
	c := mini(t)
	if err := c.Set(t.Context(), "other:lease", "somebody", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), c, Options{Prefix: "other"})
	if err != nil || !report.Busy || len(report.Checks) != 0 || !report.Passed() {
		t.Errorf("%+v, %v", report, err)
	}
	if got := c.Get(t.Context(), "other:lease").Val(); got != "somebody" {
		t.Errorf("the lease is now %q", got)
	}
}

// spoiler runs a function before each command of a name, or of any if it has none.
type spoiler struct {
	name string
	f    func()
}

func (spoiler) DialHook(next redis.DialHook) redis.DialHook                               { return next }
func (spoiler) ProcessPipelineHook(n redis.ProcessPipelineHook) redis.ProcessPipelineHook { return n }

func (s spoiler) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if s.name == "" || cmd.Name() == s.name {
			s.f()
		}
		return next(ctx, cmd)
	}
}

// TestRunCancelled: at whatever moment, nothing is left.
func TestRunCancelled(t *testing.T) {
	for _, at := range []int{1, 2, 50, 200, 320} {
		c := mini(t)
		var calls atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		c.AddHook(spoiler{"evalsha", func() {
			if calls.Add(1) == int64(at) {
				cancel()
			}
		}})
		_, err := Run(ctx, c, Options{})
		cancelled := errors.Is(err, context.Canceled)
		cancel()
		if left := keys(t, c); len(left) != 0 || !cancelled {
			t.Errorf("cancelled at call %d of %d: left are %q, %v", at, calls.Load(), left, err)
		}
	}
}

// TestRunLeavesNothingForGood: a run may end between any two commands, or while
// Redis hangs in one, and what it has written then ends by itself.
func TestRunLeavesNothingForGood(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		c, other := server.Client(t, limitertest.Patient), server.Client(t, limitertest.Patient)
		c.AddHook(spoiler{"", func() {
			stays, err := other.Eval(context.Background(), `local stays = {}
				for _, key in ipairs(redis.call('KEYS', '*')) do
					if redis.call('PTTL', key) == -1 then stays[#stays + 1] = key end
				end
				return stays`, nil).StringSlice()
			if err != nil || len(stays) != 0 {
				t.Errorf("%q have no TTL, %v", stays, err)
			}
		}})
		if report, err := Run(t.Context(), c, Options{}); err != nil || !report.Passed() {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// TestRunFails: each check fails where somebody spoils what it looks at.
func TestRunFails(t *testing.T) {
	fixed := func(subject string) string { return "keyhealth-selftest:{" + subject + "}:fixed:600s" }
	for name, spoil := range map[string]func(c *redis.Client){
		CheckExactLimit: func(c *redis.Client) { c.Del(context.Background(), fixed(crowd)) },
		CheckTTL:        func(c *redis.Client) { c.Persist(context.Background(), fixed(calls)) },
		CheckHealing:    func(c *redis.Client) { c.Persist(context.Background(), fixed(zombie)) },
		CheckCleanup:    func(c *redis.Client) { c.Set(context.Background(), fixed(crowd), 1, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			c := mini(t)
			other := redis.NewClient(&redis.Options{Addr: c.Options().Addr})
			defer func() { _ = other.Close() }()
			command := map[string]string{CheckExactLimit: "evalsha", CheckTTL: "pttl", CheckHealing: "pttl", CheckCleanup: "exists"}[name]
			c.AddHook(spoiler{command, func() { spoil(other) }})
			report, _ := Run(t.Context(), c, Options{})
			failed := false
			for _, check := range report.Checks {
				failed = failed || check.Name == name && !check.Passed && check.Detail != "" && !strings.Contains(check.Detail, "%!")
			}
			if name == CheckCleanup {
				failed = failed || len(report.Checks) == 1
			}
			if !failed {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestWarning(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		c := redistest.StartBinary(t, binary, "--maxmemory-policy", "allkeys-lru").Client(t)
		for maxmemory, want := range map[string]string{"0": "not set now", "100mb": "limits start anew"} {
			if err := c.ConfigSet(t.Context(), "maxmemory", maxmemory).Err(); err != nil {
				t.Fatal(err)
			}
			report, err := Run(t.Context(), c, Options{})
			if err != nil || !report.Passed() || !strings.Contains(report.Warning, want) || !strings.Contains(report.Warning, "allkeys-lru") {
				t.Errorf("%+v, %v", report, err)
			}
		}
	})
}

// TestWarningOfAnUnknownPolicy: what a server calls its policy is shown only where
// it looks like one.
func TestWarningOfAnUnknownPolicy(t *testing.T) {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command == "INFO" {
			c.WriteBulk("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:rate_limit:alice\r\n")
		}
		return command == "INFO"
	})
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer func() { _ = c.Close() }()
	got, err := evictionWarning(t.Context(), c)
	if err != nil || !strings.Contains(got, "unknown") || strings.Contains(got, "alice") {
		t.Errorf("%q, %v", got, err)
	}
}

package limiter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"keyhealth/internal/redistest"
	"keyhealth/limiter/internal/limitertest"
)

// TestFixedWindowInACluster: a Cluster of one node enforces the rules of a
// large one: keys are declared, and those of a call are in one slot.
func TestFixedWindowInACluster(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		s := &limitertest.Server{Client: startCluster(t, binary)}
		c := redis.NewClusterClient(&redis.ClusterOptions{
			Addrs:                    []string{s.Client.Options().Addr},
			DisableIdentity:          true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		t.Cleanup(func() { _ = c.Close() })
		minute, day := mustFixedWindow(t, c, 2, time.Minute), mustFixedWindow(t, c, 2, 24*time.Hour)
		for _, subject := range []string{"alice", "a}b{c", "{}", "}", "{", " ", "%", "\xff", strings.Repeat("{}", MaxSubject)} {
			for _, l := range []*FixedWindow{minute, day} {
				result, err := l.Allow(t.Context(), subject)
				if want := (Result{Allowed: true, Limit: 2, Remaining: 1, ResetAfter: l.MaxTTL()}); result != want || err != nil {
					t.Errorf("subject %q: %+v, %v, want %+v", subject, result, err, want)
				}
			}
			if a, b := slot(t, s, mustKey(t, minute, subject)), slot(t, s, mustKey(t, day, subject)); a != b {
				t.Errorf("subject %q has keys in the slots %d and %d", subject, a, b)
			}
		}
	})
}

func slot(t *testing.T, s *limitertest.Server, key string) int64 {
	t.Helper()
	n, err := s.Client.ClusterKeySlot(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// startCluster starts a Cluster of one node, which owns all slots.
func startCluster(t *testing.T, binary string) *redis.Client {
	t.Helper()
	c := redistest.StartBinary(t, binary, "--cluster-enabled", "yes").Client(t)
	if err := c.ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		err := c.Get(t.Context(), "x").Err()
		if errors.Is(err, redis.Nil) {
			return c
		}
		if !redis.HasErrorPrefix(err, "CLUSTERDOWN") {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("after a minute the cluster does not serve")
	return nil
}

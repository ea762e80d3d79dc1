package limiter

import (
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// TestCluster: the keys of a call are declared, and in one slot; those of
// different subjects are all over the cluster.
func TestCluster(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		c := redistest.StartClusterBinary(t, binary, 3).Client(t)
		l := mustNew(t, c, FixedWindow{Limit: 2, Window: hour}, FixedWindow{Limit: 9, Window: 25 * time.Hour},
			SlidingWindow{Limit: 3, Window: hour}, TokenBucket{Capacity: 4, Refill: 1, Every: hour})
		slots := map[int64]bool{}
		for _, subject := range []string{"alice", "bob", "a}b{c", "{}", "}", "{", " ", "%", "\xff", strings.Repeat("{}", MaxSubject)} {
			if got, err := l.Peek(t.Context(), subject); err != nil || got.Degraded || got.Remaining != 2 {
				t.Errorf("subject %q: Peek: %+v, %v", subject, got, err)
			}
			r, err := l.Reserve(t.Context(), subject, 1)
			if err != nil || !r.Allowed || r.Degraded || r.Remaining != 1 || r.Limit != 2 {
				t.Fatalf("subject %q: %+v, %v", subject, r, err)
			}
			if err := r.Commit(t.Context(), 1); err != nil {
				t.Errorf("subject %q: %v", subject, err)
			}
			keys, err := l.Keys(subject)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				slots[c.ClusterKeySlot(t.Context(), key).Val()] = true
				if ttl := c.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > l.MaxTTL() {
					t.Errorf("%s has the TTL %v", key, ttl)
				}
			}
		}
		if len(slots) != 10 {
			t.Errorf("the keys of 10 subjects are in %d slots", len(slots))
		}
	})
}

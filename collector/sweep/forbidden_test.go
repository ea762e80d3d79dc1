package sweep

import (
	"context"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
)

// TestForbiddenInMidSweep: an ACL that takes the keys away between the two looks
// makes no zombie of them, and no 0 either.
func TestForbiddenInMidSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 50, 0)
		s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
		began := time.Now()
		n.Script(func(_ context.Context, call fake.Call) error {
			if call.Command == "pttl" && time.Since(began) > time.Second {
				n.Forbid("limit:")
			}
			return nil
		})
		g := mustGroup(t, sweepOf(t, s), 0, "limit")
		if g.Zombies != nil || g.WithoutTTL != 50 || !s.capabilities.Refuses("pttl") {
			t.Errorf("%+v, zombies %+v", g, g.Zombies)
		}
	})
}

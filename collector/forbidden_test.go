package collector

import (
	"context"
	"testing"
	"time"
)

// TestForbiddenInMidSweep: an ACL that takes the keys away between the two looks
// makes no zombie of them, and no 0 either.
func TestForbiddenInMidSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "limit:%d", 50, 0)
		s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
		began := time.Now()
		n.script(func(_ context.Context, call fakeCall) error {
			if call.command == "pttl" && time.Since(began) > time.Second {
				n.forbid("limit:")
			}
			return nil
		})
		g := mustGroup(t, sweepOf(t, s), 0, "limit")
		if g.Zombies != nil || g.WithoutTTL != 50 || !s.capabilities.is("pttl", refused) {
			t.Errorf("%+v, zombies %+v", g, g.Zombies)
		}
	})
}

package sweep

import (
	"context"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// TestSlotsThatMoveInASweep: what was met belongs to nobody.
func TestSlotsThatMoveInASweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, s := clusterNode(t, false, 0, plain(300)...)
		moved := false
		n.Script(func(_ context.Context, call fake.Call) error {
			if call.Command == "scan" && !moved {
				moved = true
				n.Own("0-16000")
			}
			return nil
		})
		if reason := failureOfSweep(t, s); reason != source.ReasonCluster || !moved {
			t.Errorf("the reason is %q", reason)
		}
		if result := sweepOf(t, s); result.Examined != 300 {
			t.Errorf("%d keys were examined when all stood still", result.Examined)
		}
	})
}

// TestSamplesOfOtherSlots: the samples of a pool are of the slots that the node has
// now: what has moved is counted elsewhere.
func TestSamplesOfOtherSlots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, s := clusterNode(t, false, 1000, append(plain(20_000), inSlots(400, "a")...)...)
		young := func() bool {
			g := mustGroup(t, sweepOf(t, s), 0, "hot")
			time.Sleep(time.Minute)
			return g.Oldest.After(time.Now().Add(-2 * time.Minute))
		}
		for range 5 {
			young()
		}
		if young() {
			t.Fatal("nothing is pooled: it shows nothing")
		}
		n.Own("0-16000")
		if !young() {
			t.Error("figures hold samples of other slots")
		}
	})
}

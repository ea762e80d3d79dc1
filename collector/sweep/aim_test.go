// How a node of a Cluster is asked which line it has, and what is done where it
// does not tell. Real Clusters are in aim_server_test.go, the arithmetic in
// package cursor.

package sweep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"keyhealth/collector/cursor"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// clusterNode is a node of a Cluster with keys, and its sweeper.
func clusterNode(t *testing.T, perSlot bool, budget int64, names ...string) (*fake.Node, *sweeper) {
	n := fake.NewNode(t)
	n.JoinCluster(perSlot)
	for _, name := range names {
		n.Set(0, name, time.Hour)
	}
	s := newSweeper(sampledTarget(t, "hot=hot:*", budget), n, 1)
	s.inCluster = true
	return n, s
}

// inSlots are count names of keys for each tag.
func inSlots(count int, tags ...string) []string {
	var names []string
	for _, tag := range tags {
		for i := range count {
			names = append(names, fmt.Sprintf("hot:{%s}:%d", tag, i))
		}
	}
	return names
}

// plain are names of keys in slots of everywhere.
func plain(count int) []string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("plain:%d", i))
	}
	return names
}

// tagIn is a hash tag that leads to a slot.
func tagIn(slot int) string {
	for i := 0; ; i++ {
		if tag := fmt.Sprint(i); source.SlotOf(tag) == slot {
			return tag
		}
	}
}

// TestLineIsAsked: whatever the keys, and however few slots they are in, a node
// is known for what it is; and a node that is in no Cluster is not asked.
func TestLineIsAsked(t *testing.T) {
	for name, names := range map[string][]string{
		"keys everywhere":             plain(3000),
		"and many in one slot":        append(plain(300), inSlots(3000, "a")...),
		"one slot":                    inSlots(2000, "a"),
		"two slots":                   inSlots(2000, "a", "b"),
		"three slots":                 inSlots(2000, "a", "b", "c"),
		"four slots":                  inSlots(500, "a", "b", "c", "d"),
		"the first slot":              inSlots(2000, tagIn(0)),
		"the first three slots":       inSlots(700, tagIn(0), tagIn(1), tagIn(2)),
		"the last slot":               inSlots(2000, tagIn(source.HashSlots-1)),
		"the first and the last slot": inSlots(2000, tagIn(0), tagIn(source.HashSlots-1)),
		"slots one after the other":   inSlots(700, tagIn(5), tagIn(6), tagIn(7)),
		"the last three slots":        inSlots(700, tagIn(16381), tagIn(16382), tagIn(16383)),
	} {
		for _, perSlot := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				n, s := clusterNode(t, perSlot, 500, names...)
				result := sweepOf(t, s)
				if got := result.Databases[0].Groups[0].Tags.Squares > 0 || result.Databases[0].Groups[1].Tags.Squares > 0; got != perSlot {
					t.Errorf("%s: one dictionary a slot: %v, want %v", name, got, perSlot)
				}
				if result.Databases[0].Walked || !s.capabilities.Permits("slot_counts") {
					t.Errorf("%s: it was walked, or slot_counts does not count as permitted", name)
				}
				asked := 0
				for _, call := range n.Log("cluster|countkeysinslot") {
					if asked += len(call.Slots); len(call.Slots) > 1000 {
						t.Errorf("%d slots in one write", len(call.Slots))
					}
				}
				if asked != source.HashSlots {
					t.Errorf("%d slots were asked for, want each once", asked)
				}
			})
		}
	}
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 100, 0)
		s := newSweeper(targetOf(t, ""), n, 1)
		sweepOf(t, s)
		if calls := len(n.Log("cluster|nodes")) + len(n.Log("cluster|countkeysinslot")); calls > 0 || s.capabilities.Knows("slot_counts") {
			t.Errorf("a server that is in no Cluster was asked %d times", calls)
		}
	})
}

// TestLineOfFewKeys: keys that nobody can tell apart do not matter either.
func TestLineOfFewKeys(t *testing.T) {
	for _, names := range [][]string{plain(1), plain(3), inSlots(5, "a"), inSlots(1, tagIn(16383)), append(plain(40), inSlots(40, "a")...)} {
		for _, perSlot := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				n, s := clusterNode(t, perSlot, 1000, names...)
				s.capabilities.Permit("random_cursor")
				for range 20 {
					n.Forget()
					sweepOf(t, s)
					wantEachOnce(t, n, 0)
				}
			})
		}
	}
}

// TestGoesOn: where a page from an empty slot ends on a node with one dictionary
// a slot, and nowhere else.
func TestGoesOn(t *testing.T) {
	counts := cursor.NewSlotCounts([]int{5, 9}, []int64{2, 3})
	keys := []string{"a key"}
	for name, test := range map[string]struct {
		from int
		page source.Page
		want bool
	}{
		"in the next slot":                  {4, source.Page{Next: 1<<14 | 5, Names: keys}, true},
		"at the end of the next slot":       {4, source.Page{Next: 9, Names: keys}, true},
		"in another slot":                   {4, source.Page{Next: 1<<14 | 4, Names: keys}, false},
		"too early at the end of the round": {4, source.Page{Next: 0, Names: keys}, false},
		"with the last slot":                {8, source.Page{Next: 0, Names: keys}, true},
		"where there is no slot left":       {10, source.Page{Next: 0, Names: nil}, true},
		"with keys of no slot":              {10, source.Page{Next: 0, Names: keys}, false},
		"on and on":                         {10, source.Page{Next: 77, Names: nil}, false},
	} {
		if got := counts.GoesOn(test.from, test.page.Next, len(test.page.Names) == 0); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSlotCountsArePaced: counting the slots takes no more of the node than its
// duty.
func TestSlotCountsArePaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, s := clusterNode(t, true, 500, plain(2000)...)
		n.Delay("cluster|countkeysinslot", 100*time.Millisecond)
		sweepOf(t, s)
		calls := n.Log("cluster|countkeysinslot")
		for i := range calls[1:] {
			if gap := calls[i+1].At.Sub(calls[i].At); gap < 990*time.Millisecond {
				t.Fatalf("a write followed after %v, want a second at a duty of 0.1", gap)
			}
		}
		if len(calls) < 17 {
			t.Errorf("%d writes", len(calls))
		}
	})
}

// TestSlotCountsRefused: without the counts random cursors are tried as on any
// server. Where there is one dictionary a slot they prove to be no places, and
// the node is walked until the counts are permitted. A refusal is one, however
// many slots there are.
func TestSlotCountsRefused(t *testing.T) {
	for _, command := range []string{"cluster|nodes", "cluster|countkeysinslot"} {
		for _, perSlot := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				n, s := clusterNode(t, perSlot, 500, plain(3000)...)
				n.Deny(command, true)
				d := sweepOf(t, s).Databases[0]
				if d.Walked != perSlot || d.Seen < 400 || perSlot && d.Seen != 3000 {
					t.Errorf("%s, one dictionary a slot: %v: walked: %v, %d keys met", command, perSlot, d.Walked, d.Seen)
				}
				if calls := n.Log(command); len(calls) != 1 || len(calls[0].Slots) > 1 {
					t.Errorf("%s: %d writes were refused, the first of %d slots", command, len(calls), len(calls[0].Slots))
				}
				if !s.capabilities.Refuses("slot_counts") || required(s, "slot_counts") {
					t.Errorf("%s: slot_counts does not count as refused, or as required", command)
				}
				n.Deny(command, false)
				sweepOf(t, s) // a walk shows that cursors are places after all
				if d = sweepOf(t, s).Databases[0]; d.Walked || perSlot && d.Groups[1].Tags.Squares == 0 || !s.capabilities.Permits("slot_counts") {
					t.Errorf("%s, one dictionary a slot: %v: a permission that was given does not count", command, perSlot)
				}
			})
		}
		bubble(t, func(t *testing.T) {
			n, s := clusterNode(t, true, 500, plain(3000)...)
			n.Script(func(_ context.Context, call fake.Call) error {
				if call.Command == command {
					return fake.CutError()
				}
				return nil
			})
			if reason := failureOfSweep(t, s); reason != source.ReasonUnreachable || s.capabilities.Refuses("slot_counts") {
				t.Errorf("%s: a broken connection has the reason %s, or counts as a refusal", command, reason)
			}
		})
	}
}

// TestSampleOfSlots: a group in one slot of a node with one dictionary a slot is
// seen at its share, and so are the slots themselves.
func TestSampleOfSlots(t *testing.T) {
	for _, perSlot := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			const sweeps, keys = 60, 8000
			n, s := clusterNode(t, perSlot, 1000, append(plain(keys*95/100), inSlots(keys*5/100, "a")...)...)
			var met, hot, live float64
			for range sweeps {
				d := sweepOf(t, s).Databases[0]
				met, hot = met+d.Met(), hot+float64(d.Groups[0].Examined())
				live += d.Met() / d.Share / keys / sweeps
			}
			if share := hot / met; share < 0.045 || share > 0.055 {
				t.Errorf("one dictionary a slot: %v: %.4f of the keys met are in the slot, want 0.05", perSlot, share)
			}
			if live < 0.98 || live > 1.02 {
				t.Errorf("one dictionary a slot: %v: %.4f of the keys are said to live, all do", perSlot, live)
			}
			if !perSlot {
				return
			}
			n.Forget()
			sweepOf(t, s)
			if inOrder := slices.IsSortedFunc(n.Log("scan")[1].Cursors, func(a, b uint64) int { return int(a%source.HashSlots) - int(b%source.HashSlots) }); inOrder {
				t.Error("the slots are sampled in order")
			}
		})
	}
}

// TestWalkOfSlots: from anywhere, every key is met once.
func TestWalkOfSlots(t *testing.T) {
	for name, names := range map[string][]string{
		"sparse": plain(700), "one slot": inSlots(900, "a"), "both": append(plain(2000), inSlots(300, "a", tagIn(0), tagIn(16383))...),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n, s := clusterNode(t, true, 0, names...)
				starts := map[uint64]bool{}
				for range 40 {
					n.Forget()
					result := sweepOf(t, s)
					wantEachOnce(t, n, 0)
					if !result.Databases[0].Walked || result.Share != 1 {
						t.Fatal("it was not walked")
					}
					starts[n.Log("scan")[1].Cursors[0]] = true
				}
				if len(names) > 1000 && len(starts) < 35 {
					t.Errorf("walks began at %d places", len(starts))
				}
				if got := slices.Sorted(maps.Keys(metIn(n, 0))); len(got) != len(names) {
					t.Errorf("%d keys of %d", len(got), len(names))
				}
			})
		})
	}
}

// required says whether a capability counts as required.
func required(s *sweeper, name string) bool {
	return slices.ContainsFunc(s.capabilities.List(), func(c source.Capability) bool { return c.Name == name && c.Required })
}

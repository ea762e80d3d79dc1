// How a node of a Cluster is asked which line it has, and what is done where it
// does not tell. Real Clusters are in aim_server_test.go, the arithmetic in
// slots_test.go.

package collector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// clusterNode is a node of a Cluster with keys, and its sweeper.
func clusterNode(t *testing.T, perSlot bool, budget int64, names ...string) (*fakeNode, *sweeper) {
	n := newFakeNode(t)
	n.joinCluster(perSlot)
	for _, name := range names {
		n.set(0, name, time.Hour)
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
		if tag := fmt.Sprint(i); slotOf(tag) == slot {
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
		"the last slot":               inSlots(2000, tagIn(hashSlots-1)),
		"the first and the last slot": inSlots(2000, tagIn(0), tagIn(hashSlots-1)),
		"slots one after the other":   inSlots(700, tagIn(5), tagIn(6), tagIn(7)),
		"the last three slots":        inSlots(700, tagIn(16381), tagIn(16382), tagIn(16383)),
	} {
		for _, perSlot := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				n, s := clusterNode(t, perSlot, 500, names...)
				result := sweepOf(t, s)
				if got := result.Databases[0].groups[0].tags.squares > 0 || result.Databases[0].groups[1].tags.squares > 0; got != perSlot {
					t.Errorf("%s: one dictionary a slot: %v, want %v", name, got, perSlot)
				}
				if result.Databases[0].walked || !s.capabilities.is("slot_counts", permitted) {
					t.Errorf("%s: it was walked, or slot_counts does not count as permitted", name)
				}
				asked := 0
				for _, call := range n.log("cluster|countkeysinslot") {
					if asked += len(call.slots); len(call.slots) > 1000 {
						t.Errorf("%d slots in one write", len(call.slots))
					}
				}
				if asked != hashSlots {
					t.Errorf("%d slots were asked for, want each once", asked)
				}
			})
		}
	}
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "limit:%d", 100, 0)
		s := newSweeper(targetOf(t, ""), n, 1)
		sweepOf(t, s)
		if calls := len(n.log("cluster|nodes")) + len(n.log("cluster|countkeysinslot")); calls > 0 || !s.capabilities.is("slot_counts", unknown) {
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
				s.capabilities.permit("random_cursor")
				for range 20 {
					n.forget()
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
	counts := newSlotCounts([]int{5, 9}, []int64{2, 3})
	keys := []string{"a key"}
	for name, test := range map[string]struct {
		from int
		page page
		want bool
	}{
		"in the next slot":                  {4, page{1<<14 | 5, keys}, true},
		"at the end of the next slot":       {4, page{9, keys}, true},
		"in another slot":                   {4, page{1<<14 | 4, keys}, false},
		"too early at the end of the round": {4, page{0, keys}, false},
		"with the last slot":                {8, page{0, keys}, true},
		"where there is no slot left":       {10, page{0, nil}, true},
		"with keys of no slot":              {10, page{0, keys}, false},
		"on and on":                         {10, page{77, nil}, false},
	} {
		if got := counts.goesOn(test.from, test.page.next, len(test.page.names) == 0); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSlotCountsArePaced: counting the slots takes no more of the node than its
// duty.
func TestSlotCountsArePaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, s := clusterNode(t, true, 500, plain(2000)...)
		n.delay("cluster|countkeysinslot", 100*time.Millisecond)
		sweepOf(t, s)
		calls := n.log("cluster|countkeysinslot")
		for i := range calls[1:] {
			if gap := calls[i+1].at.Sub(calls[i].at); gap < 990*time.Millisecond {
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
				n.deny(command, true)
				d := sweepOf(t, s).Databases[0]
				if d.walked != perSlot || d.seen < 400 || perSlot && d.seen != 3000 {
					t.Errorf("%s, one dictionary a slot: %v: walked: %v, %d keys met", command, perSlot, d.walked, d.seen)
				}
				if calls := n.log(command); len(calls) != 1 || len(calls[0].slots) > 1 {
					t.Errorf("%s: %d writes were refused, the first of %d slots", command, len(calls), len(calls[0].slots))
				}
				if !s.capabilities.is("slot_counts", refused) || s.capabilities.required["slot_counts"] {
					t.Errorf("%s: slot_counts does not count as refused, or as required", command)
				}
				n.deny(command, false)
				sweepOf(t, s) // a walk shows that cursors are places after all
				if d = sweepOf(t, s).Databases[0]; d.walked || perSlot && d.groups[1].tags.squares == 0 || !s.capabilities.is("slot_counts", permitted) {
					t.Errorf("%s, one dictionary a slot: %v: a permission that was given does not count", command, perSlot)
				}
			})
		}
		bubble(t, func(t *testing.T) {
			n, s := clusterNode(t, true, 500, plain(3000)...)
			n.script(func(_ context.Context, call fakeCall) error {
				if call.command == command {
					return cutError()
				}
				return nil
			})
			if reason := failureOfSweep(t, s); reason != ReasonUnreachable || s.capabilities.is("slot_counts", refused) {
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
				met, hot = met+d.met(), hot+float64(d.groups[0].examined())
				live += d.met() / d.share / keys / sweeps
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
			n.forget()
			sweepOf(t, s)
			if inOrder := slices.IsSortedFunc(n.log("scan")[1].cursors, func(a, b uint64) int { return int(a%hashSlots) - int(b%hashSlots) }); inOrder {
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
					n.forget()
					result := sweepOf(t, s)
					wantEachOnce(t, n, 0)
					if !result.Databases[0].walked || result.share != 1 {
						t.Fatal("it was not walked")
					}
					starts[n.log("scan")[1].cursors[0]] = true
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

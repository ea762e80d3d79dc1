// Cursors that are no places: a server or proxy that takes only those it handed
// out, and starts again at 0 for any other.

package collector

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// opaqueCursors are two kinds of cursors that are no places: scrambled ones, and
// those that count up.
var opaqueCursors = map[string]func(place) uint64{
	"scrambled": func(p place) uint64 { return hashOf(strconv.FormatUint(uint64(p), 16)) },
	"counting":  func(p place) uint64 { return uint64(p) >> 48 }, // the buckets of a table of 2^16
}

// TestOpaqueCursors: a keyspace above the budget is walked part by part, each
// sweep going on where the last one ended.
func TestOpaqueCursors(t *testing.T) {
	for name, opaque := range opaqueCursors {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := newFakeNode(t)
				n.opaque = opaque
				n.put(0, "limit:%d", 5000, time.Hour)
				target := targetOf(t, "limit=limit:*")
				target.Sweep.MaxKeys = 500
				s := newSweeper(target, n, 1)
				met := map[string]int{}
				for round := range 9 {
					n.forget()
					result := sweepOf(t, s)
					if !s.capabilities.is("random_cursor", refused) {
						t.Fatalf("sweep %d trusts random cursors", round+1)
					}
					if n := result.examined; n < 500 || n > 515 {
						t.Errorf("sweep %d counts %d keys, its budget is 500", round+1, n)
					}
					if want := float64(result.examined) / 5000; result.databases[0].share != want {
						t.Errorf("sweep %d covers %v, want %v", round+1, result.databases[0].share, want)
					}
					if g := mustGroup(t, result, 0, "limit"); g.Keys < 4999 || g.Keys > 5001 {
						t.Errorf("sweep %d estimates %v keys of 5000", round+1, g.Keys)
					}
					if round > 0 { // the first one began with a sample, to find out
						for name, times := range metIn(n, 0) {
							met[name] += times
						}
					}
				}
				wantNoneTwice(t, met)
				if len(met) < 4000 {
					t.Errorf("eight sweeps of 500 keys met %d", len(met))
				}
			})
		})
	}
}

// TestOpaqueCursorsOfASmallKeyspace: every walk meets each key once.
func TestOpaqueCursorsOfASmallKeyspace(t *testing.T) {
	for name, opaque := range opaqueCursors {
		for _, count := range []int{100, 400} {
			t.Run(fmt.Sprintf("%s, COUNT %d", name, count), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					n := newFakeNode(t)
					n.opaque = opaque
					target := targetOf(t, "")
					target.Sweep.ScanCount = count
					for keys := 1200; keys < 2000; keys += 25 { // a few pages may happen to lead forward
						n.put(0, "limit:%d", keys, time.Hour)
						s := newSweeper(target, n, 3)
						for range 3 {
							n.forget()
							sweepOf(t, s)
							wantEachOnce(t, n, 0)
						}
					}
				})
			})
		}
	}
}

// TestOpaqueCursorsOfASmallBudget: ten pages are enough to know.
func TestOpaqueCursorsOfASmallBudget(t *testing.T) {
	for name, opaque := range opaqueCursors {
		bubble(t, func(t *testing.T) {
			n := newFakeNode(t)
			n.opaque = opaque
			for keys := 200; keys < 800; keys += 10 {
				n.put(0, "limit:%d", keys, time.Hour)
				s := newSweeper(sampledTarget(t, "", 100), n, 1)
				if result := sweepOf(t, s); !s.capabilities.is("random_cursor", refused) || result.examined > 115 {
					t.Errorf("%s cursors, %d keys: met %d; random cursors are trusted", name, keys, result.examined)
				}
			}
		})
	}
}

func TestResumedWalkEndsInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.opaque = opaqueCursors["scrambled"]
		n.put(0, "limit:%d", 5000, time.Hour)
		n.delay("scan", 200*time.Millisecond) // with its pause: two seconds a page
		target := targetOf(t, "")
		target.Sweep.MaxKeys = 3000
		s := newSweeper(target, n, 1)
		s.capabilities.refuse("random_cursor")
		start := time.Now()
		result := sweepOf(t, s)
		if took := time.Since(start); took > 22*time.Second || result.examined < 900 || result.examined > 1200 {
			t.Errorf("met %d keys in %v, want those of a third of a minute", result.examined, took)
		}
	})
}

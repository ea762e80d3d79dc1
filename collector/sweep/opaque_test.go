// Cursors that are no places: a server or proxy that takes only those it handed
// out, and starts again at 0 for any other.

package sweep

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
)

// opaqueCursors are two kinds of cursors that are no places: scrambled ones, and
// those that count up.
var opaqueCursors = map[string]func(uint64) uint64{
	"scrambled": func(place uint64) uint64 { return fake.HashOf(strconv.FormatUint(place, 16)) },
	"counting":  func(place uint64) uint64 { return place >> 48 }, // the buckets of a table of 2^16
}

// TestOpaqueCursors: a keyspace above the budget is walked whole, for a part of a
// walk is no sample.
func TestOpaqueCursors(t *testing.T) {
	for name, opaque := range opaqueCursors {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Opaque = opaque
				n.Put(0, "limit:%d", 5000, time.Hour)
				target := targetOf(t, "limit=limit:*")
				target.Sweep.MaxKeys = 500
				s := newSweeper(target, n, 1)
				for round := range 3 {
					n.Forget()
					result := sweepOf(t, s)
					if !s.capabilities.Refuses("random_cursor") {
						t.Fatalf("sweep %d trusts random cursors", round+1)
					}
					if g := mustGroup(t, result, 0, "limit"); g.Keys != 5000 || result.Share != 1 {
						t.Errorf("sweep %d counts %v keys of 5000, share %v", round+1, g.Keys, result.Share)
					}
					if round > 0 { // the first one began with a sample, to find out
						wantEachOnce(t, n, 0)
					}
				}
			})
		})
	}
}

// TestCursorsAreTrustedAgain: where expired keys made cursors look too fast, a
// later walk shows that they are places.
func TestCursorsAreTrustedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 5000, time.Hour)
		target := targetOf(t, "limit=limit:*")
		target.Sweep.MaxKeys = 500
		s := newSweeper(target, n, 1)
		s.capabilities.Refuse("random_cursor")
		if result := sweepOf(t, s); result.Examined != 5000 || !s.capabilities.Permits("random_cursor") {
			t.Errorf("met %d keys of 5000", result.Examined)
		}
		if result := sweepOf(t, s); result.Examined > 600 {
			t.Errorf("the next sweep met %d keys, its budget is 500", result.Examined)
		}
	})
}

// TestOpaqueCursorsOfASmallKeyspace: every walk meets each key once.
func TestOpaqueCursorsOfASmallKeyspace(t *testing.T) {
	for name, opaque := range opaqueCursors {
		for _, count := range []int{100, 400} {
			t.Run(fmt.Sprintf("%s, COUNT %d", name, count), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					n := fake.NewNode(t)
					n.Opaque = opaque
					target := targetOf(t, "")
					target.Sweep.ScanCount = count
					for keys := 1200; keys < 2000; keys += 25 { // a few pages may happen to lead forward
						n.Put(0, "limit:%d", keys, time.Hour)
						s := newSweeper(target, n, 3)
						for range 3 {
							n.Forget()
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
			n := fake.NewNode(t)
			n.Opaque = opaque
			for keys := 200; keys < 800; keys += 10 {
				n.Put(0, "limit:%d", keys, time.Hour)
				s := newSweeper(sampledTarget(t, "", 100), n, 1)
				if result := sweepOf(t, s); !s.capabilities.Refuses("random_cursor") || result.Examined != int64(keys) {
					t.Errorf("%s cursors, %d keys: met %d; random cursors are trusted", name, keys, result.Examined)
				}
			}
		})
	}
}

package cursor

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

func TestPlaces(t *testing.T) {
	for cursor, want := range map[uint64]Place{0: 0, 1: 1 << 63, 2: 1 << 62, 3: 3 << 62, 1 << 63: 1, math.MaxUint64: math.MaxUint64} {
		if got := placeOf(cursor); got != want {
			t.Errorf("cursor %x is at %x, want %x", cursor, got, want)
		}
	}
	for x, want := range map[float64]Place{0: 0, 0.25: 1 << 62, 0.5: 1 << 63, 0.75: 3 << 62, 1: math.MaxUint64 - 2047, 0x1p-64: 1} {
		if got := at(x); got != want {
			t.Errorf("%v of the line is %x, want %x", x, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		p, cursor := Place(rng.Uint64()), rng.Uint64()
		if placeOf(p.cursor()) != p || placeOf(cursor).cursor() != cursor {
			t.Fatalf("place %x and cursor %x do not come back", p, cursor)
		}
		if x := rng.Float64(); math.Abs(float64(at(x))/0x1p64-x) > 1e-15 {
			t.Fatalf("%v of the line is %x", x, at(x))
		}
	}
}

// bucketsOf is a hash table as SCAN sees it: the number of keys in each of its
// 2^k buckets.
type bucketsOf []int

func randomBuckets(rng *rand.Rand, k, keys int) bucketsOf {
	b := make(bucketsOf, 1<<k)
	for range keys {
		b[rng.IntN(len(b))]++
	}
	return b
}

// scan is Redis' SCAN: whole buckets in the order of their reversed bits, until
// count keys are found or 10 x count buckets were looked at. It answers the
// buckets and keys it met and the next cursor.
func (b bucketsOf) scan(cursor uint64, count int) (buckets, keys int, next uint64) {
	mask := uint64(len(b) - 1)
	for {
		keys += b[cursor&mask]
		buckets++
		cursor |= ^mask // so that adding one to the reversed cursor carries into the mask
		cursor = bits.Reverse64(bits.Reverse64(cursor) + 1)
		if cursor == 0 || keys >= count || buckets > 10*count {
			return buckets, keys, cursor
		}
	}
}

// TestCoveredShare compares the share with the buckets that pages at random
// places really met, those of two pages counted twice.
func TestCoveredShare(t *testing.T) {
	for _, k := range []int{7, 10, 13, 16} {
		for _, fill := range []float64{0.02, 0.5, 1, 5} {
			t.Run(fmt.Sprintf("2^%d buckets, %v keys each", k, fill), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(k), 1))
				table := randomBuckets(rng, k, int(fill*float64(uint(1)<<k)))
				var line Covered
				var met, ended int
				page := func(start Place) uint64 {
					buckets, _, next := table.scan(start.cursor(), SampleCount)
					line.Page(start, next)
					met += buckets
					return next
				}
				for range 300 {
					if page(at(rng.Float64())) == 0 { // as in a sample: go on at the beginning
						ended++
						page(0)
					}
				}
				if want := float64(met) / float64(len(table)); math.Abs(line.Share()-want) > 1e-9 {
					t.Errorf("share %v, want %v", line.Share(), want)
				}
				if k == 7 && ended == 0 {
					t.Error("no page met the end: the test proves little")
				}
			})
		}
	}
}

// A round from anywhere to the same bucket covers everything once, whatever the
// pages are.
func TestCoveredRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	table := randomBuckets(rng, 10, 1500)
	for _, start := range []Place{0, at(1.0 / 3), at(1)} {
		var line Covered
		var keys int
		cursor, wrapped := start.cursor(), false
		for !wrapped || placeOf(cursor) < start>>54<<54 {
			_, met, next := table.scan(cursor, 1+rng.IntN(3))
			line.Page(placeOf(cursor), next)
			keys += met
			wrapped = wrapped || next == 0
			if cursor = next; next == 0 && start == 0 {
				break
			}
		}
		if share := line.Share(); share < 1-1e-9 || share > 1.01 || keys < 1500 {
			t.Errorf("from %x: share %v, %d keys", start, share, keys)
		}
	}
}

func TestCoveredEarlyEnd(t *testing.T) {
	tests := []struct {
		name  string
		pages map[Place]uint64 // start to answered cursor
		want  float64
	}{
		{"no page", nil, 0},
		{"all in one page", map[Place]uint64{0: 0}, 1},
		{"the first half", map[Place]uint64{0: 1}, 0.5},
		{"the second half, to the end", map[Place]uint64{0: 1, 1 << 63: 0}, 1},
		{"a start inside a bucket", map[Place]uint64{0: 1, 1<<63 + 12345: 0}, 1},
		// Nothing tells the table's size: the page may have begun with the one bucket there is.
		{"only an end", map[Place]uint64{1 << 63: 0}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var line Covered
			for start, next := range test.pages {
				line.Page(start, next)
			}
			if got := line.Share(); got != test.want {
				t.Errorf("share %v, want %v", got, test.want)
			}
		})
	}
}

// The line of a node with one dictionary a slot, as arithmetic: slots, places,
// and the way from a fraction of the keys to a cursor and back.

package cursor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

var _ [source.HashSlots]struct{} = [slotNumber]struct{}{} // they are the same number

// TestSlotPlaces: every cursor has a place of its own, and the places are in the
// order in which SCAN goes through slots and buckets.
func TestSlotPlaces(t *testing.T) {
	for cursor, want := range map[uint64]Place{
		0: 0, 1: 1 << 50, 16383: 16383 << 50, 1 << 14: 1 << 49, 2<<14 | 5: 5<<50 | 1<<48, 3<<14 | 5: 5<<50 | 3<<48, 1 << 63: 1, math.MaxUint64: math.MaxUint64,
	} {
		if got := slotPlaceOf(cursor); got != want {
			t.Errorf("cursor %x is at %x, want %x", cursor, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		p, cursor := Place(rng.Uint64()), rng.Uint64()
		if slotPlaceOf(p.slotCursor()) != p || slotPlaceOf(cursor).slotCursor() != cursor {
			t.Fatalf("place %x and cursor %x do not come back", p, cursor)
		}
	}
	table := fake.NewTable()
	table.Slots, table.PerSlot = map[int]*fake.Table{}, true
	for i := range 3000 {
		table.Put(fmt.Sprintf("k:%d", i%2000), fake.Key{})
		table.Put(fmt.Sprintf("k:{hot}:%d", i), fake.Key{})
	}
	l := Line{Slots: slotCountsOf(table)}
	for cursor := uint64(0); ; {
		p := table.Scan(cursor, 1, fakeNow)
		if p.Next == 0 {
			break
		}
		if !l.Advances(cursor, p.Next) || l.Advances(p.Next, cursor) && cursor != 0 || l.Before(l.Place(p.Next)) < l.Before(l.Place(cursor)) {
			t.Fatalf("cursor %d is not ahead of %d", p.Next, cursor)
		}
		cursor = p.Next
	}
	if l.Advances(7, 7) || !l.Advances(7, 0) {
		t.Error("a page that stays where it is advances, or the end of the round does not")
	}
}

// countVectors are counts of all slots: of every kind that could confuse the
// line.
func countVectors(rng *rand.Rand) map[string]*SlotCounts {
	fill := func(count func(slot int) int64) *SlotCounts {
		var slots []int
		var counts []int64
		for slot := range slotNumber {
			slots, counts = append(slots, slot), append(counts, count(slot))
		}
		return NewSlotCounts(slots, counts)
	}
	return map[string]*SlotCounts{
		"one slot":            NewSlotCounts([]int{4574}, []int64{100_000}),
		"the first slot":      NewSlotCounts([]int{0}, []int64{7}),
		"the last slot":       NewSlotCounts([]int{slotNumber - 1}, []int64{1}),
		"two slots far apart": NewSlotCounts([]int{0, slotNumber - 1}, []int64{1, 1_000_000_000}),
		"one key a slot":      fill(func(int) int64 { return 1 }),
		"mostly empty":        fill(func(int) int64 { return max(0, rng.Int64N(100)-90) }),
		"a third of the slots": fill(func(slot int) int64 {
			if slot/5461 != 1 {
				return 0
			}
			return rng.Int64N(80)
		}),
		"a giant among dwarfs": fill(func(slot int) int64 {
			if slot == 9000 {
				return 50_000_000
			}
			return rng.Int64N(4)
		}),
	}
}

// TestSlotLineAndBack: a fraction of the keys leads to a bucket of the slot that
// has the key there, and that place has as many keys before it.
func TestSlotLineAndBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, counts := range countVectors(rng) {
		l := Line{Slots: counts}
		fractions := []float64{0, 0x1p-60, 1 - 0x1p-53, 0.5}
		for range 2000 {
			fractions = append(fractions, rng.Float64())
		}
		slices.Sort(fractions)
		var last Place
		for _, x := range fractions {
			p := l.At(x)
			count := float64(counts.count(p.slot()))
			if count == 0 || x > 0x1p-40 && float64(counts.sums[p.slot()]) > x*float64(counts.total()) {
				t.Fatalf("%s: %v of the keys is in slot %d, which has %v", name, x, p.slot(), count)
			}
			// A bucket has room for two to four keys at most.
			if off := (x - l.Before(p)) * float64(counts.total()); off < -1e-3 || off > 4.001 {
				t.Fatalf("%s: %v of the keys is at a place with %v before it: off by %v keys", name, x, l.Before(p), off)
			}
			if p < last {
				t.Fatalf("%s: the place of %v lies before that of a smaller fraction", name, x)
			}
			last = p
			if again := l.Place(l.Cursor(p)); again != p {
				t.Fatalf("%s: place %x comes back as %x", name, p, again)
			}
		}
		if first := l.At(0); l.Before(first) != 0 || l.Before(0) != 0 {
			t.Errorf("%s: %v of the keys lie before the first place", name, l.Before(first))
		}
	}
	empty := Line{Slots: NewSlotCounts(nil, nil)}
	if empty.At(0.7) != 0 || empty.Before(5<<50) != 0 {
		t.Error("a node without keys has places with keys before them")
	}
}

func TestSlotsInOrder(t *testing.T) {
	counts := NewSlotCounts([]int{3, 9, 10, 16383}, []int64{5, 70, -1, 6})
	for from, want := range map[int]int{0: 3, 3: 3, 4: 9, 10: 16383, 16383: 16383, 16384: slotNumber} {
		if got := counts.next(from); got != want {
			t.Errorf("the first slot with keys from %d on is %d, want %d", from, got, want)
		}
	}
	for slot, want := range map[int]int{3: -1, 4: 3, 16383: 9} {
		if got := counts.previous(slot); got != want {
			t.Errorf("the last slot with keys before %d is %d, want %d", slot, got, want)
		}
	}
	if got := counts.Largest(2); !slices.Equal(got, []int{9, 16383}) {
		t.Errorf("the largest slots are %v", got)
	}
	if got := counts.Largest(9); !slices.Equal(got, []int{9, 16383, 3}) {
		t.Errorf("the largest slots are %v", got)
	}
	if NewSlotCounts(nil, nil).next(0) != slotNumber {
		t.Error("a node without keys has a slot with keys")
	}
}

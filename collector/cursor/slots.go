// The line of a node that keeps one dictionary a slot (Redis Cluster from 7.4,
// Valkey 8): SCAN goes slot by slot, a cursor being a position in the slot's
// table shifted left by 14 bits, with the slot below it. Pure arithmetic on the
// slots' key counts; what of it pages covered is stretch.go.

package cursor

import (
	"math"
	"math/bits"
	"sort"
)

const (
	slotBits = 14
	// slotNumber is source.HashSlots: once more, since this package is arithmetic and
	// imports nothing of the project. slots_test.go does not compile if they differ.
	slotNumber   = 1 << slotBits
	positionBits = 64 - slotBits
)

// slotPlaceOf is a cursor's place where each slot has a dictionary: the slot,
// then the position with its bits reversed.
func slotPlaceOf(cursor uint64) Place {
	return Place(cursor&(slotNumber-1)<<positionBits | bits.Reverse64(cursor>>slotBits)>>slotBits)
}

// slotCursor is the cursor at a place where each slot has a dictionary.
func (p Place) slotCursor() uint64 {
	return bits.Reverse64(uint64(p)<<slotBits)<<slotBits | uint64(p)>>positionBits
}

func (p Place) slot() int { return int(p >> positionBits) }

// position is how far into the slot's dictionary the place lies, 0 <= x < 1.
func (p Place) position() float64 { return float64(p&(1<<positionBits-1)) / (1 << positionBits) }

// SlotCounts are the keys of a node by slot.
type SlotCounts struct {
	sums [slotNumber + 1]int64 // keys in lower slots; the last one: all keys
}

// NewSlotCounts takes the counts of some slots; the other slots are empty.
func NewSlotCounts(slots []int, counts []int64) *SlotCounts {
	s := &SlotCounts{}
	for i, slot := range slots {
		s.sums[slot+1] += max(0, counts[i])
	}
	for slot := range slotNumber {
		s.sums[slot+1] += s.sums[slot]
	}
	return s
}

func (s *SlotCounts) count(slot int) int64 { return s.sums[slot+1] - s.sums[slot] }
func (s *SlotCounts) total() int64         { return s.sums[slotNumber] }

// holding is the slot of the key with a rank, 0 <= rank < total, in the line's order.
func (s *SlotCounts) holding(rank int64) int {
	return sort.Search(slotNumber, func(slot int) bool { return s.sums[slot+1] > rank })
}

// next is the first slot with keys from one on, slotNumber where there is none.
func (s *SlotCounts) next(from int) int {
	if from >= slotNumber || s.sums[from] == s.total() {
		return slotNumber
	}
	return s.holding(s.sums[from])
}

// Largest are the slots with the most keys, n at most.
func (s *SlotCounts) Largest(n int) []int {
	var largest []int
	for slot := s.next(0); slot < slotNumber; slot = s.next(slot + 1) {
		i := sort.Search(len(largest), func(i int) bool { return s.count(largest[i]) < s.count(slot) })
		if i == n {
			continue
		}
		largest = append(largest, 0)
		copy(largest[i+1:], largest[i:])
		largest[i] = slot
		largest = largest[:min(n, len(largest))]
	}
	return largest
}

// at is the place that has a fraction x of the keys before it, rounded down to a
// bucket that the slot's table has even when it is loaded twice.
func (s *SlotCounts) at(x float64) Place {
	if s.total() == 0 {
		return 0
	}
	rank := math.Min(x*float64(s.total()), float64(s.total())*(1-0x1p-53))
	slot := s.holding(int64(rank))
	into := math.Min((rank-float64(s.sums[slot]))/float64(s.count(slot)), 1-0x1p-53)
	width := max(0, s.tableBits(slot)-1)
	return Place(slot)<<positionBits | Place(into*math.Ldexp(1, width))<<(positionBits-width)
}

// tableBits is the size of a slot's table, as a power of two, when it has just
// room for its keys.
func (s *SlotCounts) tableBits(slot int) int {
	return bits.Len64(uint64(max(1, s.count(slot)) - 1))
}

// before is the fraction of the keys that lie before a place.
func (s *SlotCounts) before(p Place) float64 {
	if s.total() == 0 {
		return 0
	}
	return (float64(s.sums[p.slot()]) + float64(s.count(p.slot()))*p.position()) / float64(s.total())
}

// Gap is an empty slot from which SCAN goes on to another: the one before a
// slot with keys, else the one behind all of them.
func (s *SlotCounts) Gap() int {
	last := 0
	for slot := s.next(2); slot < slotNumber; slot = s.next(slot + 1) {
		if s.count(slot-1) == 0 {
			return slot - 1
		}
		last = slot
	}
	return max(last, 1) + 1
}

// GoesOn says whether a page from an empty slot's beginning ended, with the cursor
// next, where a node with one dictionary a slot would end it: in a slot with keys,
// or where there is none left at the end of the round.
func (s *SlotCounts) GoesOn(from int, next uint64, empty bool) bool {
	slot := s.next(from)
	if slot == slotNumber {
		return next == 0 && empty
	}
	if next == 0 {
		return s.next(slot+1) == slotNumber
	}
	at := slotPlaceOf(next).slot()
	return at == slot || at == s.next(slot+1)
}

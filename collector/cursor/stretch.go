// How many keys a page of a sample went over where each slot has a dictionary.
// The slots' counts are known, so what a page met can be compared with what it
// ought to have met: the difference is expired keys. A page ends as soon as it
// has SampleCount keys, which makes the plain length of its stretch a biased
// measure: long where keys are few. The formulae take that out, by the order
// statistics of c keys that lie at random in a slot. Simulated for 1 to 1000 keys
// a slot they are within 0.5 %, where a bucket has room for many keys within
// 1.2 % (those of statistics.md 8.6 are up to 2.4 % off on pages of 10 keys).

package cursor

import (
	"math"
	"math/bits"
)

// SampleCount is the COUNT of a sample's SCANs: pages this small leave active
// expiry alone and spread a batch over ten places.
const SampleCount = 10

// CheckedPages is how many pages show whether random cursors can be trusted.
const CheckedPages = 100

// leastBits is the size of the smallest table, as a power of two.
const leastBits = 2

// share is the keys that pages went over, as a part of all keys.
func (s *SlotCounts) share(pages []stretch) float64 {
	if s.total() == 0 {
		return 0
	}
	var keys float64
	coarser := s.coarser(pages)
	for _, page := range pages {
		keys += s.passed(page, coarser)
	}
	return keys / float64(s.total())
}

// coarser is by how many bits tables are smaller than their keys would have
// them, as the positions in the answered cursors show: more than 0 where a bucket
// has room for several keys.
func (s *SlotCounts) coarser(pages []stretch) int {
	if len(pages) < CheckedPages {
		return 0
	}
	least := positionBits
	for _, page := range pages {
		end := slotPlaceOf(page.next)
		if width := positionWidth(end); width > 0 {
			least = min(least, max(leastBits, s.tableBits(end.slot()))-width)
		}
	}
	return max(0, least)
}

// positionWidth is how many bits a position has: never more than its table.
func positionWidth(p Place) int {
	position := uint64(p) << slotBits
	if position == 0 {
		return 0
	}
	return 64 - bits.TrailingZeros64(position)
}

// passed is how many keys a page went over.
func (s *SlotCounts) passed(page stretch, coarser int) float64 {
	first := page.start.slot()
	last, b, seen := slotNumber, 0.0, 0
	if page.next != 0 {
		end := slotPlaceOf(page.next)
		last, b, seen = end.slot(), end.position(), positionWidth(end)
		if b == 0 { // it ended with the last bucket of a slot before
			last, b = s.previous(last), 1
		}
	}
	if last < first {
		return 0 // slots were moved meanwhile
	}
	width := s.width(first, coarser)
	if last == first {
		width = max(width, seen)
	}
	a := math.Ldexp(math.Floor(math.Ldexp(page.start.position(), width)), -width)
	switch {
	case last == first:
		return s.within(first, a, b, math.Ldexp(1, -width))
	case last == slotNumber:
		return s.rest(first, a) + float64(s.total()-s.sums[first+1])
	}
	buckets := math.Ldexp(1, max(s.width(last, coarser), seen))
	return s.rest(first, a) + float64(s.sums[last]-s.sums[first+1]) +
		(float64(s.count(last))+(buckets-1)/(buckets+1))*b
}

// width is the size of a slot's table, as a power of two.
func (s *SlotCounts) width(slot, coarser int) int {
	return max(0, max(leastBits, s.tableBits(slot))-coarser)
}

// previous is the last slot with keys before one, -1 where there is none.
func (s *SlotCounts) previous(slot int) int {
	if s.sums[slot] == 0 {
		return -1
	}
	return s.holding(s.sums[slot] - 1)
}

// within is how many keys a page met that stayed within a slot, from a to b. On
// average b - a is as long as it takes to meet SampleCount of the keys behind a,
// given that there are as many, and then half of a bucket longer.
func (s *SlotCounts) within(slot int, a, b, bucket float64) float64 {
	keys := float64(s.count(slot))
	few := fewBehind(keys, a)
	inverse := (1-math.Pow(a, keys+1))/((keys+1)*(1-a)) - few.inverse
	if 1-few.chance < 1e-9 || inverse <= 0 {
		return keys * (b - a) // it cannot have ended here: the counts have changed
	}
	length := SampleCount * (1 - a) * inverse / (1 - few.chance)
	return (b - a) * (SampleCount + keys*bucket/2) / (length + bucket/2)
}

// rest is how many keys a page met in a slot that it left at its end, from a
// on: fewer than SampleCount.
func (s *SlotCounts) rest(slot int, a float64) float64 {
	keys := float64(s.count(slot))
	few := fewBehind(keys, a)
	if few.chance < 1e-9 {
		return keys * (1 - a)
	}
	return few.mean / few.chance
}

// few sums over the cases that fewer than SampleCount of a slot's keys lie
// behind a position: their chance, and the parts of them that the mean of the
// number n of these keys has, and the mean of 1/(n+1).
type few struct{ chance, mean, inverse float64 }

func fewBehind(keys, a float64) few {
	if a == 0 {
		if keys < SampleCount {
			return few{1, keys, 1 / (keys + 1)}
		}
		return few{}
	}
	var f few
	term := math.Pow(a, keys)
	for n := 0.0; n < SampleCount && n <= keys; n++ {
		f.chance += term
		f.mean += term * n
		f.inverse += term / (n + 1)
		term *= (keys - n) / (n + 1) * (1 - a) / a
	}
	return f
}

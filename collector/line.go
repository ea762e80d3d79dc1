package collector

import (
	"math"
	"math/bits"
)

// SCAN visits the buckets of its table in the order of their reversed bits. The
// line maps a cursor to its place in that order, 0 to 1; it holds for servers
// with one dictionary a database, whatever the size of its table.

// place is a point on the line in units of 2^-64.
type place uint64

func placeOf(cursor uint64) place { return place(bits.Reverse64(cursor)) }

// cursor is the cursor at a place; the server ignores the bits its table has no
// bucket for.
func (p place) cursor() uint64 { return bits.Reverse64(uint64(p)) }

// at is the place of a fraction of the line, 0 <= x < 1.
func at(x float64) place { return place(math.Min(x, 1-0x1p-53) * 0x1p64) }

// covered sums the stretches of the line that pages covered.
type covered struct {
	starts  []place
	ends    float64 // sum of the ends, a finished round counting 1
	cursors uint64  // all cursors that were answered: shows the table's size
}

// page notes that a page from start ended with the answered cursor next, where
// 0 is the line's end.
func (c *covered) page(start place, next uint64) {
	c.starts = append(c.starts, start)
	c.cursors |= next
	if next == 0 {
		c.ends++
		return
	}
	c.ends += float64(placeOf(next)) / 0x1p64
}

// share is the part of the line covered. A page begins with the whole bucket
// its start falls into, so starts are rounded down to one.
func (c *covered) share() float64 {
	width := bits.Len64(c.cursors) // the table has 2^width buckets
	var begun float64
	for _, start := range c.starts {
		begun += float64(start>>(64-width)<<(64-width)) / 0x1p64
	}
	return math.Max(0, c.ends-begun)
}

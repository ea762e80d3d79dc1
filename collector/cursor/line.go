// The line: SCAN's order on a node, as a map between cursors and places. It is
// pure arithmetic; who asks a node which kind of line it has is package sweep,
// aim.go, and what a node with one dictionary a slot adds is slots.go.

package cursor

import (
	"math"
	"math/bits"
)

// Place is a point in SCAN's order: pages lead from lower places to higher ones.
type Place uint64

// Line is SCAN's order in one database of a node. The zero line is that of a
// server with one dictionary a database: SCAN visits the buckets of its table in
// the order of their reversed bits, whatever the table's size, so that a place
// is a fraction of the line in units of 2^-64.
type Line struct {
	Slots *SlotCounts // nil: one dictionary
}

// PerSlot says that the node keeps one dictionary a slot.
func (l Line) PerSlot() bool { return l.Slots != nil }

// Place is where a cursor points to. Every cursor has a place of its own.
func (l Line) Place(cursor uint64) Place {
	if l.PerSlot() {
		return slotPlaceOf(cursor)
	}
	return placeOf(cursor)
}

// Cursor is the cursor at a place.
func (l Line) Cursor(p Place) uint64 {
	if l.PerSlot() {
		return p.slotCursor()
	}
	return p.cursor()
}

// At is the place that has a fraction of the keys before it, 0 <= x < 1.
func (l Line) At(x float64) Place {
	if l.PerSlot() {
		return l.Slots.at(x)
	}
	return at(x)
}

// Before is the fraction of the keys that lie before a place.
func (l Line) Before(p Place) float64 {
	if l.PerSlot() {
		return l.Slots.before(p)
	}
	return float64(p) / 0x1p64
}

// Advances says whether a page led forward on the line. Cursors that mean
// something else do not for long.
func (l Line) Advances(cursor, next uint64) bool {
	return next == 0 || l.Place(next) > l.Place(cursor)
}

// placeOf is a cursor's place where there is one dictionary.
func placeOf(cursor uint64) Place { return Place(bits.Reverse64(cursor)) }

// cursor is the cursor at a place where there is one dictionary; the server
// ignores the bits its table has no bucket for.
func (p Place) cursor() uint64 { return bits.Reverse64(uint64(p)) }

func at(x float64) Place { return Place(math.Min(x, 1-0x1p-53) * 0x1p64) }

// Covered sums the stretches of the line that a sample's pages covered.
type Covered struct {
	Line    Line
	pages   []stretch
	ends    float64 // sum of the ends, a finished round counting 1
	cursors uint64  // all cursors that were answered: shows the table's size
}

// stretch is what one page went over: from a place up to the answered cursor.
type stretch struct {
	start Place
	next  uint64 // 0: the line's end
}

// Page notes that a page from start ended with the answered cursor next.
func (c *Covered) Page(start Place, next uint64) {
	c.pages = append(c.pages, stretch{start, next})
	c.cursors |= next
	if next == 0 {
		c.ends++
		return
	}
	c.ends += c.Line.Before(c.Line.Place(next))
}

// Bucket is the beginning of the bucket that a place falls into, as far as the
// answers have shown the table. While a table is rehashed a page from within a
// bucket of the smaller one would miss what of it has been moved already.
func (c *Covered) Bucket(p Place) Place {
	width := bits.Len64(c.cursors)
	if width == 0 || c.Line.PerSlot() {
		return p
	}
	return p >> (64 - width) << (64 - width)
}

// Share is the part of the line covered, the line weighing as much as its keys.
// A page begins with the whole bucket its start falls into, so starts are
// rounded down to one.
func (c *Covered) Share() float64 {
	if c.Line.PerSlot() {
		return c.Line.Slots.share(c.pages)
	}
	width := bits.Len64(c.cursors) // the table has 2^width buckets
	var begun float64
	for _, page := range c.pages {
		begun += float64(page.start>>(64-width)<<(64-width)) / 0x1p64
	}
	return math.Max(0, c.ends-begun)
}

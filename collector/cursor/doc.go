// Package cursor knows what the cursors of SCAN mean: a [Line] is SCAN's order on a
// node, on which a cursor is a [Place], and [Covered] is how much of it the pages of
// a sample went over. It is pure arithmetic: no Redis, no clock.
package cursor

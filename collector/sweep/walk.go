// A walk: page after page round a database, with rests for active expiry, and each
// key once where it began. It also learns whether random cursors can be trusted.
// Walking on after a lost connection, in slices, is full.go; samples are sample.go.

package sweep

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// A long sequential SCAN on some masters stops active expiry; runs of this
// length with these rests do not (Info.WalksStarveExpiry).
const (
	walkRun  = 10 * time.Second
	walkRest = 20 * time.Second
)

// seamPages is how many pages at a walk's start are remembered, to know again
// the keys that its last pages meet a second time.
const seamPages = 2

// walk meets every key of the selected database once: from a random place
// round to the same place, or where the server is not known to take random
// cursors from 0 to 0.
func (s *session) walk(ctx context.Context, d *tally.Database) error {
	var cursor uint64
	if s.capabilities.Permits("random_cursor") {
		cursor = s.rng.Uint64()
	}
	start, wrapped := s.line.Place(cursor), false
	s.tags = nil
	seam := newSeam()
	for {
		if err := s.spareExpiry(ctx); err != nil {
			return err
		}
		began := time.Now()
		page, err := s.page(ctx, d, cursor, func(names []string) []string { return seam.fresh(names, wrapped) })
		if err != nil {
			if err := s.resume(ctx, d.DB, err); err != nil {
				return err
			}
			continue
		}
		if page.Next == 0 {
			if wrapped || start == 0 {
				break
			}
			wrapped = true
		} else if wrapped && s.line.Place(page.Next) >= start {
			break
		}
		s.checkAdvance(d, cursor, page.Next, seam)
		cursor = page.Next
		if err := s.rest(ctx, s.pacer.rest(time.Since(began), 2)); err != nil {
			return err
		}
	}
	d.Walked, d.Share = true, 1
	return nil
}

// spareExpiry rests between the pages of a walk that has run for long enough,
// over however many databases.
func (s *session) spareExpiry(ctx context.Context) error {
	switch {
	case s.run.IsZero():
		s.run = time.Now()
	case s.info.WalksStarveExpiry() && time.Since(s.run) >= walkRun:
		if err := s.rest(ctx, walkRest); err != nil {
			return err
		}
		s.run = time.Now()
	}
	return nil
}

// page is one batch of a walk: a SCAN, then the TTL of what pick leaves of its
// names.
func (s *session) page(ctx context.Context, d *tally.Database, cursor uint64, pick func([]string) []string) (source.Page, error) {
	pages, err := s.conn.Scan(ctx, []uint64{cursor}, s.batch())
	if s.capabilities.Note("scan", err) != nil {
		return source.Page{}, fmt.Errorf("SCAN: %w", err)
	}
	return pages[0], s.meet(ctx, d, pick(pages[0].Names))
}

// provenPages and provenKeys are what a walk must have met before its cursors
// are trusted.
const (
	provenPages = 10
	provenKeys  = 1000
)

// checkAdvance learns from a walk from 0 whether cursors mean places: each page
// must lead forward, and after some pages the cursor must have moved on as far
// as their keys are of all, within a factor of 5. What was refused once may be
// permitted by a later walk: expired keys that are not reclaimed look like a
// cursor that moves too fast.
func (s *session) checkAdvance(d *tally.Database, cursor, next uint64, seam *seam) {
	seam.backward = seam.backward || !s.line.Advances(cursor, next)
	switch {
	case next == 0 || s.capabilities.Permits("random_cursor"):
	case seam.backward:
		s.capabilities.Refuse("random_cursor")
	case seam.pages >= provenPages && d.Met() >= provenKeys && d.Sized:
		s.judgeCursors(s.line.Before(s.line.Place(next)), d.Met()/float64(d.Before.Keys))
	}
}

// judgeCursors decides whether random cursors can be trusted.
func (s *session) judgeCursors(moved, expected float64) {
	if moved > expected/5 && moved < math.Max(expected*5, 1e-9) {
		s.capabilities.Permit("random_cursor")
		return
	}
	s.capabilities.Refuse("random_cursor")
}

// seam knows the keys of a walk's first pages by a hash of their names.
type seam struct {
	seed  maphash.Seed
	known map[uint64]bool
	pages int // with keys, before the wrap

	backward bool // a page led back: cursors are no places
}

func newSeam() *seam { return &seam{seed: maphash.MakeSeed(), known: map[uint64]bool{}} }

// fresh leaves out the names of the first pages once the walk has wrapped.
func (s *seam) fresh(names []string, wrapped bool) []string {
	if !wrapped {
		if len(names) > 0 {
			s.pages++
		}
		if s.pages <= seamPages {
			for _, name := range names {
				s.known[maphash.String(s.seed, name)] = true
			}
		}
		return names
	}
	fresh := names[:0]
	for _, name := range names {
		if !s.known[maphash.String(s.seed, name)] {
			fresh = append(fresh, name)
		}
	}
	return fresh
}

package collector

import (
	"context"
	"fmt"
	"math"
	"time"
)

// sample meets a random part of the selected database: pages at places drawn
// evenly over SCAN's order, each within its own stretch of it, in random order,
// so that a sample cut short at any moment is still a fair one.
func (s *session) sample(ctx context.Context, d *dbTally, until time.Time) error {
	starts := s.places(d.before.Keys)
	batch := max(1, s.batch()/sampleCount)
	line := covered{line: s.line}
	s.tags = nil
	if s.line.perSlot() {
		s.tags = newTagPage()
	}
	for done := 0; done < len(starts); done += batch {
		began := time.Now()
		if !began.Before(until) && done > 0 {
			break
		}
		trips, err := s.pages(ctx, d, starts[done:min(done+batch, len(starts))], &line)
		if err != nil {
			return err
		}
		if done+batch >= min(checkedPages, len(starts)) && s.capabilities.is("random_cursor", unknown) {
			s.judgeCursors(line.share(), d.met()/float64(d.before.Keys))
		}
		if s.capabilities.is("random_cursor", refused) {
			return s.restart(ctx, d)
		}
		rest := s.pacer.rest(time.Since(began), trips)
		if time.Now().Add(rest).After(until) {
			break // after a stall the rest may be long, and nothing follows it
		}
		if err := s.rest(ctx, rest); err != nil {
			return err
		}
	}
	d.share = math.Min(1, line.share())
	return nil
}

// restart walks a database whose sample met cursors that are no places. Part of
// a walk would be no sample: what lies together in SCAN's order may belong
// together.
func (s *session) restart(ctx context.Context, d *dbTally) error {
	fresh := s.counting.newDBTally(d.db, true)
	fresh.before, fresh.sized = d.before, d.sized
	*d = *fresh
	return s.walk(ctx, d)
}

// places draws the starts of a sample's pages: one in each of m equal stretches
// of the line, jittered within it, the whole pattern turned by a random amount.
func (s *session) places(keys int64) []place {
	m := int(min(s.backlog.budget(s.target.Sweep.MaxKeys), keys)/sampleCount) + 1
	width := math.Min(1, float64(m*sampleCount)/float64(keys)) // the share the pages cover
	turn := s.rng.Float64()
	starts := make([]place, m)
	for i, stretch := range s.rng.Perm(m) {
		_, x := math.Modf(turn + (float64(stretch)+s.rng.Float64()*(1-width))/float64(m))
		starts[i] = s.line.at(x)
	}
	return starts
}

// pages is one batch: a SCAN at each start in one write, then the TTLs. A page
// that meets the end of the round early goes on at its beginning.
func (s *session) pages(ctx context.Context, d *dbTally, starts []place, line *covered) (trips int, err error) {
	cursors := make([]uint64, len(starts))
	for i, start := range starts {
		cursors[i] = s.line.cursor(line.bucket(start))
	}
	met := make([][]string, len(starts)) // the names of each start's page
	which := make([]int, len(starts))    // start each cursor belongs to
	for i := range which {
		which[i] = i
	}
	for len(cursors) > 0 {
		pages, err := s.conn.scan(ctx, cursors, sampleCount)
		if reasonOf(err) == ReasonRefused { // a proxy may know its own cursors only: a walk will show
			s.capabilities.refuse("random_cursor")
			return trips, nil
		}
		if s.capabilities.note("scan", err) != nil {
			return trips, fmt.Errorf("SCAN: %w", err)
		}
		trips++
		var early []uint64
		for i, page := range pages {
			met[which[i]] = append(met[which[i]], page.names...)
			line.page(s.line.place(cursors[i]), page.next)
			if !s.line.advances(cursors[i], page.next) {
				s.capabilities.refuse("random_cursor")
			}
			if page.next == 0 && cursors[i] != 0 && len(page.names) < sampleCount {
				which[len(early)] = which[i]
				early = append(early, 0)
			}
		}
		cursors = early
	}
	return trips + 1, s.meet(ctx, d, met...)
}

// A sample: where its pages begin, their SCANs and TTLs, when it ends, and what
// happens where cursors turn out to be no places. What a cursor means and what
// pages covered is package cursor; how the line of a node is learned is aim.go.

package sweep

import (
	"context"
	"fmt"
	"math"
	"time"

	"keyhealth/collector/cursor"
	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// sample meets a random part of the selected database: pages at places drawn
// evenly over SCAN's order, each within its own stretch of it, in random order,
// so that a sample cut short at any moment is still a fair one.
func (s *session) sample(ctx context.Context, d *tally.Database, until time.Time) error {
	starts := s.places(d.Before.Keys)
	batch := max(1, s.batch()/cursor.SampleCount)
	line := cursor.Covered{Line: s.line}
	s.tags = nil
	if s.line.PerSlot() {
		s.tags = tally.NewTagPage()
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
		if done+batch >= min(cursor.CheckedPages, len(starts)) && !s.capabilities.Knows("random_cursor") {
			s.judgeCursors(line.Share(), d.Met()/float64(d.Before.Keys))
		}
		if s.capabilities.Refuses("random_cursor") {
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
	d.Share = math.Min(1, line.Share())
	return nil
}

// restart walks a database whose sample met cursors that are no places. Part of
// a walk would be no sample: what lies together in SCAN's order may belong
// together.
func (s *session) restart(ctx context.Context, d *tally.Database) error {
	fresh := s.counting.NewDatabase(d.DB, true)
	fresh.Before, fresh.Sized = d.Before, d.Sized
	*d = *fresh
	return s.walk(ctx, d)
}

// places draws the starts of a sample's pages: one in each of m equal stretches
// of the line, jittered within it, the whole pattern turned by a random amount.
func (s *session) places(keys int64) []cursor.Place {
	m := int(min(s.backlog.Budget(s.target.Sweep.MaxKeys), keys)/cursor.SampleCount) + 1
	width := math.Min(1, float64(m*cursor.SampleCount)/float64(keys)) // the share the pages cover
	turn := s.rng.Float64()
	starts := make([]cursor.Place, m)
	for i, stretch := range s.rng.Perm(m) {
		_, x := math.Modf(turn + (float64(stretch)+s.rng.Float64()*(1-width))/float64(m))
		starts[i] = s.line.At(x)
	}
	return starts
}

// pages is one batch: a SCAN at each start in one write, then the TTLs. A page
// that meets the end of the round early goes on at its beginning.
func (s *session) pages(ctx context.Context, d *tally.Database, starts []cursor.Place, line *cursor.Covered) (trips int, err error) {
	cursors := make([]uint64, len(starts))
	for i, start := range starts {
		cursors[i] = s.line.Cursor(line.Bucket(start))
	}
	met := make([][]string, len(starts)) // the names of each start's page
	which := make([]int, len(starts))    // start each cursor belongs to
	for i := range which {
		which[i] = i
	}
	for len(cursors) > 0 {
		pages, err := s.conn.Scan(ctx, cursors, cursor.SampleCount)
		if source.ReasonOf(err) == source.ReasonRefused { // a proxy may know its own cursors only: a walk will show
			s.capabilities.Refuse("random_cursor")
			return trips, nil
		}
		if s.capabilities.Note("scan", err) != nil {
			return trips, fmt.Errorf("SCAN: %w", err)
		}
		trips++
		var early []uint64
		for i, page := range pages {
			met[which[i]] = append(met[which[i]], page.Names...)
			line.Page(s.line.Place(cursors[i]), page.Next)
			if !s.line.Advances(cursors[i], page.Next) {
				s.capabilities.Refuse("random_cursor")
			}
			if page.Next == 0 && cursors[i] != 0 && len(page.Names) < cursor.SampleCount {
				which[len(early)] = which[i]
				early = append(early, 0)
			}
		}
		cursors = early
	}
	return trips + 1, s.meet(ctx, d, met...)
}

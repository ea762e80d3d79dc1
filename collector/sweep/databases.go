// The databases of a running sweep: which there are, how each is met, and when
// what was met is too little to publish.

package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// databases sweeps every database and looks again at what was found.
func (s *session) databases(ctx context.Context) (*Result, error) {
	sizes, sized := s.info.Keyspace()
	result := &Result{}
	var err error
	if result.Claim, err = s.claimSlots(ctx); err != nil {
		return nil, err
	}
	numbers := s.numbers(sizes)
	sampled := 0 // databases that share the time of samples
	for _, db := range numbers {
		s.walked[db] = !sized || s.capabilities.Refuses("random_cursor") || s.walks(db, sizes[db].Keys)
		if !s.walked[db] {
			sampled++
		}
	}
	for _, db := range numbers {
		d := s.counting.NewDatabase(db, s.walked[db])
		d.Before, d.Sized = sizes[db], sized
		switch err := s.meetAll(ctx, d, &sampled); {
		case err == nil:
			result.Databases = append(result.Databases, d)
		case s.capabilities.Refuses("select") && source.Denies(err) && len(s.target.Databases) == 0:
			// No series is better than a wrong one.
		default:
			return nil, fmt.Errorf("database %d: %w", db, err)
		}
	}
	if err := readable(result.Databases); err != nil {
		return nil, err
	}
	if err := s.totals(ctx, result); err != nil {
		return nil, err
	}
	if err := s.keepClaim(ctx, result.Claim); err != nil {
		return nil, err
	}
	if err := visible(result.Databases); err != nil {
		return nil, err
	}
	result.Folded = s.discover(result.Databases)
	if err := s.lookCloser(ctx, result); err != nil {
		return nil, err
	}
	if result.Searched, err = s.searchBig(ctx, result.Databases); err != nil {
		return nil, fmt.Errorf("looking for big keys: %w", err)
	}
	return result, nil
}

// meetAll meets a database's keys. One that the user asked for by its number is
// selected even when it is said to have no keys: it may not exist.
func (s *session) meetAll(ctx context.Context, d *tally.Database, sampled *int) error {
	if d.Sized && d.Before.Keys == 0 {
		d.Walked, d.Share = true, 1
		if len(s.target.Databases) == 0 {
			return nil
		}
		return s.use(ctx, d.DB)
	}
	return s.database(ctx, d, sampled)
}

// visible fails a sweep to which SCAN showed nothing of what INFO counts: keys
// without TTL cannot have expired.
func visible(databases []*tally.Database) error {
	for _, d := range databases {
		if d.Sized && d.Met() == 0 && min(d.Before.WithoutTTL(), d.After.WithoutTTL()) > 0 {
			return &source.Failure{Reason: source.ReasonRefused, Err: fmt.Errorf("database %d: SCAN shows no keys, INFO counts some", d.DB)}
		}
	}
	return nil
}

// readable fails a sweep whose keys were all kept from us: none that we may
// read is not the same as none that are there.
func readable(databases []*tally.Database) error {
	if len(databases) == 0 {
		return &source.Failure{Reason: source.ReasonNoPermission, Err: errors.New("SELECT is refused")}
	}
	var met float64
	var refused int64
	for _, d := range databases {
		met += d.Met()
		refused += d.Refused
	}
	if refused > 0 && met == float64(refused) {
		return &source.Failure{Reason: source.ReasonNoPermission, Err: errors.New("PTTL is refused for every key")}
	}
	return nil
}

// numbers are the databases to sweep, ascending: the configured ones, else
// those that have or ever had keys, and always 0.
func (s *session) numbers(sizes map[int]source.DBSize) []int {
	if len(s.target.Databases) > 0 {
		return slices.Sorted(slices.Values(s.target.Databases))
	}
	s.seen[0] = true
	for db := range sizes {
		s.seen[db] = true
	}
	return slices.Sorted(maps.Keys(s.seen))
}

// database meets one database's keys, all or a sample of them. sampled counts
// the databases whose samples share the time that is left.
func (s *session) database(ctx context.Context, d *tally.Database, sampled *int) error {
	if err := s.use(ctx, d.DB); err != nil {
		return err
	}
	var err error
	if s.line, err = s.findLine(ctx); err != nil {
		return err
	}
	if s.walked[d.DB] {
		return s.walk(ctx, d)
	}
	until := time.Now().Add(time.Until(s.deadline) / time.Duration(*sampled))
	*sampled--
	return s.sample(ctx, d, until)
}

// walks says whether a database of a size is walked: up to 1.5 times the
// budget, or 2 times if it was walked last time, so that one at the border does
// not change its kind from sweep to sweep.
func (s *sweeper) walks(db int, keys int64) bool {
	budget := s.backlog.Budget(s.target.Sweep.MaxKeys)
	if budget == 0 {
		return true
	}
	if s.walked[db] {
		return keys <= 2*budget
	}
	return keys <= budget+budget/2
}

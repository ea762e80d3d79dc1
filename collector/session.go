// The databases of a running sweep: which there are, how each is met, and what
// was there before and after. How a sweep begins and ends is sweep.go.

package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// session is the state of a running sweep.
type session struct {
	*sweeper
	conn      conn
	pacer     pacer
	counting  counting
	info      Info
	selected  int
	line      line      // of the selected database
	tags      *tagPage  // nil: nothing keeps keys with a tag together
	deadline  time.Time // samples end by then
	run       time.Time // since when there was no rest from walking; zero: there was no walk
	forbidden bool      // the ACL keeps some key's TTL from us

	untouching bool            // our reads do not count as a use of a key
	denied     map[string]bool // capabilities that are refused in this sweep
	now        time.Time       // the server's time, when the suspects were last looked at; zero: unknown
}

// databases sweeps every database and looks again at what was found.
func (s *session) databases(ctx context.Context) (*swept, error) {
	sizes, sized := s.info.Keyspace()
	result := &swept{}
	numbers := s.numbers(sizes)
	sampled := 0 // databases that share the time of samples
	for _, db := range numbers {
		s.walked[db] = !sized || s.capabilities.is("random_cursor", refused) || s.walks(db, sizes[db].Keys)
		if !s.walked[db] {
			sampled++
		}
	}
	for _, db := range numbers {
		d := s.counting.newDBTally(db, s.walked[db])
		d.before, d.sized = sizes[db], sized
		switch err := s.meetAll(ctx, d, &sampled); {
		case err == nil:
			result.databases = append(result.databases, d)
		case s.capabilities.is("select", refused) && denies(err) && len(s.target.Databases) == 0:
			// No series is better than a wrong one.
		default:
			return nil, fmt.Errorf("database %d: %w", db, err)
		}
	}
	if err := readable(result.databases); err != nil {
		return nil, err
	}
	if err := s.totals(ctx, result); err != nil {
		return nil, err
	}
	if err := visible(result.databases); err != nil {
		return nil, err
	}
	result.folded = s.discover(result.databases)
	var err error
	if err = s.confirm(ctx, result.databases); err != nil {
		return nil, fmt.Errorf("looking again: %w", err)
	}
	if err = s.readStates(ctx, result.databases); err != nil {
		return nil, fmt.Errorf("reading states: %w", err)
	}
	if err = s.measureSizes(ctx, result.databases); err != nil {
		return nil, fmt.Errorf("MEMORY USAGE: %w", err)
	}
	if result.searched, err = s.searchBig(ctx, result.databases); err != nil {
		return nil, fmt.Errorf("looking for big keys: %w", err)
	}
	result.now = s.now
	result.measured = s.target.Sweep.MemorySamples > 0 && !s.denied["memory_usage"]
	return result, nil
}

// meetAll meets a database's keys. One that the user asked for by its number is
// selected even when it is said to have no keys: it may not exist.
func (s *session) meetAll(ctx context.Context, d *dbTally, sampled *int) error {
	if d.sized && d.before.Keys == 0 {
		d.walked, d.share = true, 1
		if len(s.target.Databases) == 0 {
			return nil
		}
		return s.use(ctx, d.db)
	}
	return s.database(ctx, d, sampled)
}

// visible fails a sweep to which SCAN showed nothing of what INFO counts: keys
// without TTL cannot have expired.
func visible(databases []*dbTally) error {
	for _, d := range databases {
		if d.sized && d.met() == 0 && min(d.before.WithoutTTL(), d.after.WithoutTTL()) > 0 {
			return &Failure{Reason: ReasonRefused, Err: fmt.Errorf("database %d: SCAN shows no keys, INFO counts some", d.db)}
		}
	}
	return nil
}

// readable fails a sweep whose keys were all kept from us: none that we may
// read is not the same as none that are there.
func readable(databases []*dbTally) error {
	if len(databases) == 0 {
		return &Failure{Reason: ReasonNoPermission, Err: errors.New("SELECT is refused")}
	}
	var met float64
	var refused int64
	for _, d := range databases {
		met += d.met()
		refused += d.refused
	}
	if refused > 0 && met == float64(refused) {
		return &Failure{Reason: ReasonNoPermission, Err: errors.New("PTTL is refused for every key")}
	}
	return nil
}

// numbers are the databases to sweep, ascending: the configured ones, else
// those that have or ever had keys, and always 0.
func (s *session) numbers(sizes map[int]DBSize) []int {
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
func (s *session) database(ctx context.Context, d *dbTally, sampled *int) error {
	if err := s.use(ctx, d.db); err != nil {
		return err
	}
	var err error
	if s.line, err = s.findLine(ctx); err != nil {
		return err
	}
	if s.walked[d.db] {
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
	budget := s.backlog.budget(s.target.Sweep.MaxKeys)
	if budget == 0 {
		return true
	}
	if s.walked[db] {
		return keys <= 2*budget
	}
	return keys <= budget+budget/2
}

// use selects a database unless it is selected.
func (s *session) use(ctx context.Context, db int) error {
	if s.selected == db || s.selected == -1 && db == 0 {
		s.selected = db
		return nil
	}
	if err := s.conn.selectDB(ctx, db); s.capabilities.note("select", err) != nil {
		return fmt.Errorf("SELECT: %w", err)
	}
	s.selected = db
	return nil
}

// totals reads INFO again: a sweep's numbers are scaled on what the node held
// before and after.
func (s *session) totals(ctx context.Context, result *swept) error {
	info, err := s.conn.info(ctx)
	if err != nil {
		return fmt.Errorf("INFO: %w", err)
	}
	result.info = info
	sizes, sized := info.Keyspace()
	var keys float64
	for _, d := range result.databases {
		d.after, d.sized = sizes[d.db], d.sized && sized
		result.examined += d.seen
		weight := float64(cmp.Or(d.after.Keys, d.seen))
		keys += weight
		result.share += d.share * weight
	}
	if keys == 0 {
		result.share = 1
		return nil
	}
	result.share /= keys
	return nil
}

// meet asks the TTL of each name of some pages and counts the keys.
func (s *session) meet(ctx context.Context, d *dbTally, pages ...[]string) error {
	names := slices.Concat(pages...)
	if len(names) == 0 {
		return nil
	}
	ttls, err := s.conn.ttls(ctx, names)
	if s.capabilities.note("pttl", err) != nil {
		return fmt.Errorf("PTTL: %w", err)
	}
	at := time.Now()
	types, err := s.wantedTypes(ctx, names)
	if err != nil {
		return fmt.Errorf("TYPE: %w", err)
	}
	for _, page := range pages {
		for i, name := range page {
			t := s.counting.add(d, meeting{name: name, ttl: ttls[i], keyType: types[name], at: at})
			if s.tags != nil && t != nil {
				s.tags.add(t, name, ttls[i] == ttlNone)
			}
		}
		ttls = ttls[len(page):]
		if s.tags != nil {
			s.tags.end()
		}
	}
	if s.forbidden = s.forbidden || d.refused > 0; s.forbidden {
		s.capabilities.refuse("pttl")
	}
	return nil
}

// A running sweep: its connection and what it knows so far, from the greeting to
// the closer look. Its databases are databases.go; how it begins and ends is
// sweep.go.

package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"keyhealth/collector/cursor"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

// session is the state of a running sweep.
type session struct {
	*sweeper
	conn      source.Conn
	pacer     pacer
	counting  tally.Counting
	info      source.Info
	selected  int
	line      cursor.Line    // of the selected database
	tags      *tally.TagPage // nil: nothing keeps keys with a tag together
	deadline  time.Time      // samples end by then
	run       time.Time      // since when there was no rest from walking; zero: there was no walk
	forbidden bool           // the ACL keeps some key's TTL from us

	isFull     bool            // a full walk, which gives way to sweeps
	taken      time.Time       // when it last took its turn
	untouching bool            // our reads do not count as a use of a key
	silent     error           // why the node does not tell its slots; nil: it does
	denied     map[string]bool // capabilities that are refused in this sweep
	now        time.Time       // the server's time, when the suspects were last looked at; zero: unknown
}

// newSession begins on a connection.
func (s *sweeper) newSession(c source.Conn) *session {
	run := &session{
		sweeper:  s,
		conn:     c,
		pacer:    pacer{duty: s.target.Sweep.Duty},
		selected: -1,
		denied:   map[string]bool{},
		deadline: time.Now().Add(s.target.Sweep.Interval / 3),
		counting: tally.Counting{
			Classifier: s.classifier,
			Suspects:   tally.NewStore(s.rng, tally.LimitedTo),
		},
	}
	if samples := s.target.Sweep.MemorySamples; samples > 0 {
		run.counting.Memory = tally.NewStore(s.rng, samples)
		run.counting.Loose = tally.NewStore(s.rng, samples*looseSamples)
	}
	return run
}

// greet learns the round trip's time and INFO. greeted is told of them even where
// the node is not fit to be swept.
func (s *session) greet(ctx context.Context, greeted func(source.Info, time.Duration)) error {
	pinged := s.capabilities.Note("ping", s.pacer.measure(ctx, s.conn))
	if pinged != nil && !source.Denies(pinged) && !source.PassesBy(pinged) {
		return fmt.Errorf("PING: %w", pinged)
	}
	var err error
	if s.info, err = s.conn.Info(ctx); s.capabilities.Note("info", err) != nil {
		return fmt.Errorf("INFO: %w", err)
	}
	greeted(s.info, s.pacer.ping)
	if pinged != nil && source.PassesBy(pinged) {
		return fmt.Errorf("PING: %w", pinged)
	}
	if err := s.checkMode(s.info); err != nil {
		return err
	}
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	if s.inCluster && s.isReplica { // else it sends us to its master for each key
		if err := s.conn.ReadOnly(ctx); s.capabilities.Note("readonly", err) != nil {
			return fmt.Errorf("READONLY: %w", err)
		}
	}
	return nil
}

// A replica is in sync if it has what its primary had when that was asked, within
// the longest lag: its link is up already when the writes are still on their way.
const (
	longestLag = time.Second
	lagLook    = 100 * time.Millisecond
)

// catchUp waits for a replica to be in sync.
func (s *session) catchUp(ctx context.Context) error {
	for waited := time.Duration(0); s.isReplica; waited += lagLook {
		has, known := s.info.Number("slave_repl_offset")
		if !known || has >= s.primaryHad {
			break
		}
		if waited >= longestLag {
			return &source.Failure{Reason: source.ReasonMasterDown, Err: errors.New("the replica lags behind its primary")}
		}
		if err := sleep(ctx, lagLook); err != nil {
			return err
		}
		var err error
		if s.info, err = s.conn.Info(ctx); err != nil {
			return fmt.Errorf("INFO: %w", err)
		}
	}
	return nil
}

// checkMode refuses what would be counted wrongly: one node of a Cluster is not
// its whole keyspace, unless it is swept as a part of it, and a Sentinel has none.
func (s *sweeper) checkMode(info source.Info) error {
	switch mode := info.Mode(); {
	case len(s.target.Seeds) > 0 && s.target.Sentinel == nil && mode != "cluster":
		return &source.Failure{Reason: source.ReasonRefused, Err: errors.New("the server is no node of a Cluster: several addresses are seeds of one, and several servers are several targets"), Hint: source.HintSeeds}
	case mode == "cluster" && slices.ContainsFunc(s.target.Databases, func(db int) bool { return db != 0 }):
		return &source.Failure{Reason: source.ReasonCluster, Err: errors.New("the address is a node of a Redis Cluster, which has no database but 0"), Hint: source.HintDatabase0}
	case mode == "cluster" && !s.inCluster && s.target.Cluster != spec.ClusterNever:
		return source.ErrIsCluster
	case mode == "sentinel":
		return &source.Failure{Reason: source.ReasonRefused, Err: errors.New("the address is a Sentinel, which holds no keys"), Hint: source.HintSentinel}
	case info.Text("master_sync_in_progress") == "1":
		return &source.Failure{Reason: source.ReasonLoading, Err: errors.New("the replica is still receiving its master's keys")}
	case !s.isReplica && (s.inCluster || s.target.Sentinel != nil) && info.Role() == "replica":
		return &source.Failure{Reason: source.ReasonMasterDown, Err: errors.New("what is called the primary is a replica")}
	case s.isReplica && (info.Role() != "replica" || info.Text("master_link_status") != "up"):
		return &source.Failure{Reason: source.ReasonMasterDown, Err: errors.New("the replica is not in sync")}
	}
	return nil
}

// From this mean size of a key on, names may be too long for a whole batch of them
// to be taken in at once; a small dataset has no such names.
const (
	bulky      = 64 << 10 // bytes
	bulkyAtAll = 32 << 20
)

// batch is how many keys are asked for at once.
func (s *session) batch() int {
	sizes, _ := s.info.Keyspace()
	keys := 0.0
	for _, size := range sizes {
		keys += float64(size.Keys)
	}
	if bytes, ok := s.info.Number("used_memory_dataset"); ok && bytes > bulkyAtAll && keys > 0 && bytes/keys > bulky {
		return min(cursor.SampleCount, s.target.Sweep.ScanCount)
	}
	return s.target.Sweep.ScanCount
}

// lookCloser looks again at what the pages showed: whether zombies are some, what
// they hold, and how large keys are.
func (s *session) lookCloser(ctx context.Context, result *Result) error {
	if err := s.confirm(ctx, result.Databases); err != nil {
		return fmt.Errorf("looking again: %w", err)
	}
	if err := s.readStates(ctx, result.Databases); err != nil {
		return fmt.Errorf("reading states: %w", err)
	}
	if err := s.measureSizes(ctx, result.Databases); err != nil {
		return fmt.Errorf("MEMORY USAGE: %w", err)
	}
	result.Now, result.Slow = s.now, s.pacer.slow
	result.Measured = s.target.Sweep.MemorySamples > 0 && !s.denied["memory_usage"]
	return nil
}

// use selects a database unless it is selected.
func (s *session) use(ctx context.Context, db int) error {
	if s.selected == db || s.selected == -1 && db == 0 {
		s.selected = db
		return nil
	}
	if err := s.conn.Select(ctx, db); s.capabilities.Note("select", err) != nil {
		return fmt.Errorf("SELECT: %w", err)
	}
	s.selected = db
	return nil
}

// totals reads INFO again: a sweep's numbers are scaled on what the node held
// before and after.
func (s *session) totals(ctx context.Context, result *Result) error {
	info, err := s.conn.Info(ctx)
	if err != nil {
		return fmt.Errorf("INFO: %w", err)
	}
	result.info = info
	sizes, sized := info.Keyspace()
	var keys float64
	for _, d := range result.Databases {
		d.After, d.Sized = sizes[d.DB], d.Sized && sized
		result.Examined += d.Seen
		weight := float64(cmp.Or(d.After.Keys, d.Seen))
		keys += weight
		result.Share += d.Share * weight
	}
	if keys == 0 {
		result.Share = 1
		return nil
	}
	result.Share /= keys
	return nil
}

// meet asks the TTL of each name of some pages and counts the keys.
func (s *session) meet(ctx context.Context, d *tally.Database, pages ...[]string) error {
	names := slices.Concat(pages...)
	if len(names) == 0 {
		return nil
	}
	ttls, err := s.conn.TTLs(ctx, names)
	if s.capabilities.Note("pttl", err) != nil {
		return fmt.Errorf("PTTL: %w", err)
	}
	at := time.Now()
	numbers, err := s.groupsOf(ctx, names)
	if err != nil {
		return fmt.Errorf("TYPE: %w", err)
	}
	for _, page := range pages {
		for i, name := range page {
			t := s.counting.Add(d, tally.Meeting{Name: name, TTL: ttls[i], Group: numbers[i], At: at})
			if s.tags != nil && t != nil {
				s.tags.Add(t, name, ttls[i] == source.TTLNone)
			}
		}
		ttls, numbers = ttls[len(page):], numbers[len(page):]
		if s.tags != nil {
			s.tags.End()
		}
	}
	if s.forbidden = s.forbidden || d.Refused > 0; s.forbidden {
		s.capabilities.Refuse("pttl")
	}
	return nil
}

// Full walks: what a sweep samples is also walked whole every so often, between
// the samples. What a full walk finds of the described groups stands for those
// that are too rare to sample.

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// turn lets one of a sweep and a full walk work at a time.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }
func (t turn) pass() { <-t }

// fullState is how the full walks go.
type fullState struct {
	ended  time.Time // of the last complete one; zero: none
	reason string    // why the last one failed; empty: it did not
}

// walkFully walks what the last sweep sampled, whenever it is due, until ctx
// ends.
func (s *sweeper) walkFully(ctx context.Context) {
	for wait := s.target.Sweep.Interval; sleep(ctx, wait) == nil; {
		began := time.Now()
		s.turn.take()
		walked, err := s.fullWalk(ctx)
		s.full.reason = ""
		if err != nil {
			s.full.reason = reasonOf(err)
		} else if walked {
			s.full.ended = time.Now()
		}
		s.turn.pass()
		if wait = s.target.Sweep.Interval; walked && err == nil {
			wait = max(wait, s.target.Sweep.FullEvery-time.Since(began))
		}
	}
}

// fullWalk walks the databases that the last sweep sampled, if there are some.
func (s *sweeper) fullWalk(ctx context.Context) (walked bool, err error) {
	defer func() {
		if recover() != nil { // as in safely
			walked, err = false, &Failure{Reason: ReasonOther, Err: errors.New("the walk broke off: this is a bug of keyhealth")}
		}
	}()
	numbers := s.sampled()
	if len(numbers) == 0 {
		return false, nil
	}
	if timeout := s.target.Sweep.FullTimeout; timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		ctx = limited
	}
	c, err := s.node.connect(ctx)
	if err != nil {
		return false, timedOut(ctx, err)
	}
	run := s.newSession(c)
	defer func() { run.close() }()
	run.isFull, run.taken, run.counting.loose = true, time.Now(), nil
	if err := run.greet(ctx, func(Info, time.Duration) {}); err != nil {
		return false, timedOut(ctx, err)
	}
	return true, timedOut(ctx, run.walkDatabases(ctx, numbers))
}

// sampled are the databases that the last sweep did not walk.
func (s *sweeper) sampled() []int {
	var numbers []int
	for db, walked := range s.walked {
		if !walked {
			numbers = append(numbers, db)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// walkDatabases walks some databases and keeps what it finds for groups that are
// too rare to sample.
func (s *session) walkDatabases(ctx context.Context, numbers []int) error {
	result := &swept{}
	sizes, sized := s.info.Keyspace()
	for _, db := range numbers {
		d := s.counting.newDBTally(db, true)
		d.before, d.sized = sizes[db], sized
		err := s.use(ctx, db)
		if err == nil {
			s.line, err = s.findLine(ctx)
		}
		if err == nil {
			err = s.walk(ctx, d)
		}
		if err != nil {
			return fmt.Errorf("database %d: %w", db, err)
		}
		result.Databases = append(result.Databases, d)
	}
	if err := readable(result.Databases); err != nil {
		return err
	}
	for {
		err := s.totals(ctx, result)
		if err == nil {
			err = s.lookCloser(ctx, result)
		}
		if err == nil {
			break
		}
		if err := s.resume(ctx, numbers[0], err); err != nil {
			return err
		}
		for _, d := range result.Databases {
			d.lookAnew()
		}
	}
	for _, d := range result.Databases {
		s.pools.keep(s.classifier, d, result.Now, time.Now())
	}
	return nil
}

// rest waits between two steps. A full walk lets sweeps work meanwhile, but not
// before it has worked for a tenth of the interval: where sweeps fill theirs it
// would never come to an end.
func (s *session) rest(ctx context.Context, d time.Duration) error {
	if !s.isFull || time.Since(s.taken) < s.target.Sweep.Interval/10 {
		return sleep(ctx, d)
	}
	return s.giveWay(ctx, d)
}

// giveWay lets sweeps work for a time.
func (s *session) giveWay(ctx context.Context, d time.Duration) error {
	s.turn.pass()
	defer func() {
		s.turn.take()
		s.taken = time.Now()
	}()
	return sleep(ctx, d)
}

// Retries of a node that cannot be reached come sooner than the next interval,
// and less often the longer it lasts.
const firstRetry = time.Second

// resume goes on with a full walk on a new connection when the old one was lost:
// cursors are good for as long as the server runs. It answers why it cannot.
func (s *session) resume(ctx context.Context, db int, lost error) error {
	reason := reasonOf(lost)
	if !s.isFull || ctx.Err() != nil || reason != ReasonUnreachable && reason != ReasonTimeout {
		return lost
	}
	process := s.info.Text("run_id")
	s.close()
	for wait := firstRetry; ; wait = min(2*wait, s.target.Sweep.Interval) {
		if err := s.giveWay(ctx, wait); err != nil {
			return err
		}
		c, err := s.node.connect(ctx)
		if err != nil {
			continue
		}
		s.conn, s.selected = c, -1
		if s.greet(ctx, func(Info, time.Duration) {}) != nil {
			s.close()
			continue
		}
		if process == "" || s.info.Text("run_id") != process {
			return lost
		}
		return s.use(ctx, db)
	}
}

// close closes the connection, if there is one.
func (s *session) close() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

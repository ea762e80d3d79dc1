// Full walks: what a sweep samples is also walked whole every so often, between
// the samples. What a full walk finds of the described groups stands for those
// that are too rare to sample.

package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"keyhealth/collector/source"
)

// turn lets one of a sweep and a full walk work at a time.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }
func (t turn) pass() { <-t }

// FullWalk is how the full walks go.
type FullWalk struct {
	Ended  time.Time // of the last complete one; zero: none
	Reason string    // why the last one failed; empty: it did not
}

// walkFully walks what the last sweep sampled, whenever it is due, until ctx
// ends.
func (s *sweeper) walkFully(ctx context.Context) {
	for wait := s.target.Sweep.Interval; sleep(ctx, wait) == nil; {
		began := time.Now()
		s.turn.take()
		walked, err := s.fullWalk(ctx)
		s.full.Reason = ""
		if err != nil {
			s.full.Reason = source.ReasonOf(err)
		} else if walked {
			s.full.Ended = time.Now()
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
			walked, err = false, &source.Failure{Reason: source.ReasonOther, Err: errors.New("the walk broke off: this is a bug of keyhealth")}
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
	c, err := s.node.Connect(ctx)
	if err != nil {
		return false, timedOut(ctx, err)
	}
	run := s.newSession(c)
	defer func() { run.close() }()
	run.isFull, run.taken, run.counting.Loose = true, time.Now(), nil
	if err := run.greet(ctx, func(source.Info, time.Duration) {}); err != nil {
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
	result := &Result{}
	var err error
	if result.Claim, err = s.claimSlots(ctx); err != nil {
		return err
	}
	sizes, sized := s.info.Keyspace()
	for _, db := range numbers {
		d := s.counting.NewDatabase(db, true)
		d.Before, d.Sized = sizes[db], sized
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
			d.LookAnew()
		}
	}
	if err := s.keepClaim(ctx, result.Claim); err != nil {
		return err
	}
	for _, d := range result.Databases {
		s.pools.Keep(s.classifier, d, result.Now, time.Now())
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

// FirstRetry is when a node that cannot be reached is tried again: sooner than at
// the next interval, and less often the longer it lasts.
const FirstRetry = time.Second

// resume goes on with a full walk on a new connection when the old one was lost:
// cursors are good for as long as the server runs. It answers why it cannot.
func (s *session) resume(ctx context.Context, db int, lost error) error {
	reason := source.ReasonOf(lost)
	if !s.isFull || ctx.Err() != nil || reason != source.ReasonUnreachable && reason != source.ReasonTimeout {
		return lost
	}
	process := s.info.Text("run_id")
	s.close()
	for wait := FirstRetry; ; wait = min(2*wait, s.target.Sweep.Interval) {
		if err := s.giveWay(ctx, wait); err != nil {
			return err
		}
		c, err := s.node.Connect(ctx)
		if err != nil {
			continue
		}
		s.conn, s.selected = c, -1
		if s.greet(ctx, func(source.Info, time.Duration) {}) != nil {
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
		s.conn.Close()
		s.conn = nil
	}
}

// A sweep of one node from outside: it begins with a connection and INFO and ends
// with a result or a reason. What happens in between is session.go; what comes
// out is scaled in estimate.go.

package collector

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// sweeper sweeps one target's node; it remembers what the next sweep needs.
type sweeper struct {
	target       Target
	node         node
	classifier   *classifier
	rng          *rand.Rand
	delays       lookDelays
	capabilities capabilities
	listed       []Capability // as the last sweep left them; a full walk goes on to learn
	inCluster    bool         // the node is swept as a part of its Cluster
	isReplica    bool         // the node stands in for its primary

	shaper  *shaper
	shapes  shapes
	pools   *pools
	backlog backlog
	big     bigKeys
	walked  map[int]bool // databases that the last sweep walked
	process string       // run_id of the server; empty: unknown
	turn    turn         // of a sweep or a full walk
	full    fullState
	seen    map[int]bool // databases that ever had keys
}

func newSweeper(target Target, node node, seed uint64) *sweeper {
	return &sweeper{
		target:       target,
		node:         node,
		classifier:   newClassifier(target.Rules, target.Presets),
		rng:          rand.New(rand.NewPCG(seed, seed)),
		delays:       lookDelays{lookAgain, lookJitter},
		capabilities: newCapabilities(target),
		shaper:       newShaper(target.Discovery),
		shapes:       shapes{words: map[int]map[string]bool{}},
		pools:        newPools(target.Sweep),
		big:          bigKeys{BigKeySearch: target.Sweep.BigKeys},
		walked:       map[int]bool{},
		turn:         newTurn(),
		seen:         map[int]bool{},
	}
}

// swept is the result of a sweep.
type swept struct {
	info      Info // read when every key had been met
	databases []*dbTally
	examined  int64
	share     float64   // of SCAN's order covered, over all databases
	claim     claim     // the slots whose keys these are
	folded    int       // discovered groups that were too many to show
	room      int       // groups that may be shown
	slow      uint64    // batches that took much longer than usual
	now       time.Time // the server's clock; zero: unknown
	measured  bool      // sizes of keys were asked for, and answered
	searched  bool      // big keys were looked for
	backlog   backlog   // as it is after this sweep
	full      fullState
	primary   *Info // of the primary, where a replica was swept; nil: it did not answer, or was swept itself
}

// safely turns a panic into a failed sweep: whatever a server sends, the
// exporter goes on and says that it failed.
func (s *sweeper) safely(ctx context.Context, greeted func(Info, time.Duration)) (result *swept, err error) {
	defer func() {
		if recover() != nil { // its text may quote what the server sent
			result, err = nil, &Failure{Reason: ReasonOther, Err: errors.New("the sweep broke off: this is a bug of keyhealth")}
		}
	}()
	return s.sweep(ctx, greeted)
}

// sweep meets the node's keys. greeted is told what INFO said as soon as it is
// known. On an error nothing of the sweep counts.
func (s *sweeper) sweep(ctx context.Context, greeted func(Info, time.Duration)) (*swept, error) {
	s.turn.take()
	defer func() {
		s.listed = s.capabilities.list()
		s.turn.pass()
	}()
	if s.target.Sweep.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, s.target.Sweep.Timeout)
		defer cancel()
		ctx = limited
	}
	c, err := s.node.connect(ctx)
	if err != nil {
		return nil, timedOut(ctx, err)
	}
	defer c.close()
	result, err := s.on(ctx, c, greeted)
	return result, timedOut(ctx, err)
}

// errTooLong is the cause of a failure that the next sweep would meet again.
var errTooLong = errors.New("the sweep took longer than its timeout")

// timedOut tells the sweep's own end from a broken connection: the socket is
// cut in both cases.
func timedOut(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Failure{Reason: ReasonTimeout, Err: errTooLong}
	}
	return err
}

func (s *sweeper) on(ctx context.Context, c conn, greeted func(Info, time.Duration)) (*swept, error) {
	run := s.newSession(c)
	if budget := s.big.Budget; budget > 0 {
		run.counting.candidates = &nameStore{rng: s.rng, limit: budget / 2}
		run.counting.big = run.counting.candidates.newDraw(true)
	}
	if s.target.Discovery.Enabled {
		run.counting.tree = func(db int) *segmentTree { return newSegmentTree(s.shaper, s.shapes.words[db]) }
	}
	if err := run.greet(ctx, greeted); err != nil {
		return nil, err
	}
	s.knowProcess(run.info.Text("run_id"))
	result, err := run.databases(ctx)
	if err != nil {
		return nil, err
	}
	s.settle(result, &run.counting, time.Now())
	return result, nil
}

// knowProcess forgets what was found on another process of the server: it may
// hold other keys.
func (s *sweeper) knowProcess(id string) {
	if s.process != "" && id != s.process {
		s.pools.reset()
		s.big.known = nil
		s.backlog = backlog{}
	}
	s.process = id
}

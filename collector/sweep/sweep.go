// A sweep of one node from outside: it begins with a connection and INFO and ends
// with a result or a reason. What happens in between is session.go; what comes
// out is scaled by package estimate.

package sweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

// sweeper sweeps one target's node; it remembers what the next sweep needs.
type sweeper struct {
	target       spec.Target
	node         source.Node
	classifier   *classify.Classifier
	rng          *rand.Rand
	delays       lookDelays
	capabilities source.Capabilities
	listed       []source.Capability // as the last sweep left them; a full walk goes on to learn
	inCluster    bool                // the node is swept as a part of its Cluster
	primaryHad   float64             // of the stream of writes, before its replica is swept; 0: unknown
	isReplica    bool                // the node stands in for its primary

	shaper  *classify.Shaper
	shapes  shapes
	pools   *estimate.Pools
	backlog Backlog
	big     bigKeys
	walked  map[int]bool  // databases that the last sweep walked
	claim   *source.Claim // of the node's last sweep; nil: unknown
	process string        // run_id of the server; empty: unknown
	turn    turn          // of a sweep or a full walk
	full    FullWalk
	seen    map[int]bool // databases that ever had keys
}

func newSweeper(target spec.Target, node source.Node, seed uint64) *sweeper {
	return sweeperWith(classify.New(target.Rules, target.Presets), target, node, seed)
}

// sweeperWith shares the classifier, which is large and does not change.
func sweeperWith(classifier *classify.Classifier, target spec.Target, node source.Node, seed uint64) *sweeper {
	return &sweeper{
		target:       target,
		node:         node,
		classifier:   classifier,
		rng:          rand.New(rand.NewPCG(seed, seed)),
		delays:       lookDelays{lookAgain, lookJitter},
		capabilities: source.NewCapabilities(target),
		shaper:       classify.NewShaper(target.Discovery),
		shapes:       shapes{words: map[int]map[string]bool{}},
		pools:        estimate.NewPools(target.Sweep),
		big:          bigKeys{BigKeySearch: target.Sweep.BigKeys},
		walked:       map[int]bool{},
		turn:         newTurn(),
		seen:         map[int]bool{},
	}
}

// Result is the result of a sweep.
type Result struct {
	estimate.Counted
	info     source.Info   // read when every key had been met
	Claim    *source.Claim // the slots whose keys these are; nil: unknown
	Examined int64
	Share    float64 // of SCAN's order covered, over all databases
	Folded   int     // discovered groups that were too many to show
	Slow     uint64  // batches that took much longer than usual
	Backlog  Backlog // as it is after this sweep
	Full     FullWalk
}

// safely turns a panic into a failed sweep: whatever a server sends, the
// exporter goes on and says that it failed.
func (s *sweeper) safely(ctx context.Context, greeted func(source.Info, time.Duration)) (result *Result, err error) {
	defer func() {
		if recover() != nil { // its text may quote what the server sent
			result, err = nil, &source.Failure{Reason: source.ReasonOther, Err: errors.New("the sweep broke off: this is a bug of keyhealth")}
		}
	}()
	return s.sweep(ctx, greeted)
}

// sweep meets the node's keys. greeted is told what INFO said as soon as it is
// known. On an error nothing of the sweep counts.
func (s *sweeper) sweep(ctx context.Context, greeted func(source.Info, time.Duration)) (*Result, error) {
	s.turn.take()
	defer func() {
		s.listed = s.capabilities.List()
		s.turn.pass()
	}()
	if s.target.Sweep.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, s.target.Sweep.Timeout)
		defer cancel()
		ctx = limited
	}
	c, err := s.node.Connect(ctx)
	if err != nil {
		return nil, timedOut(ctx, err)
	}
	defer c.Close()
	result, err := s.on(ctx, c, greeted)
	return result, timedOut(ctx, err)
}

// ErrTooLong is the cause of a failure that the next sweep would meet again.
var ErrTooLong = errors.New("the sweep took longer than its timeout")

// timedOut tells the sweep's own end from a broken connection: the socket is
// cut in both cases.
func timedOut(ctx context.Context, err error) error {
	end, limited := ctx.Deadline() // the socket's own comes as soon as that of ctx
	if err != nil && limited && !time.Now().Before(end) {
		return &source.Failure{Reason: source.ReasonTimeout, Err: ErrTooLong, Hint: source.HintTooLong}
	}
	return err
}

func (s *sweeper) on(ctx context.Context, c source.Conn, greeted func(source.Info, time.Duration)) (*Result, error) {
	run := s.newSession(c)
	if budget := s.big.Budget; budget > 0 {
		run.counting.Candidates = tally.NewStore(s.rng, budget/2)
		run.counting.Big = run.counting.Candidates.NewDraw(true)
	}
	if s.target.Discovery.Enabled {
		run.counting.Tree = func(db int) *tally.Tree { return tally.NewTree(s.shaper, s.shapes.words[db]) }
	}
	if err := run.greet(ctx, greeted); err != nil {
		return nil, err
	}
	s.knowProcess(run.info.Text("run_id"))
	result, err := run.databases(ctx)
	if err != nil {
		return nil, err
	}
	s.knowClaim(result.Claim)
	s.settle(result, &run.counting, time.Now())
	return result, nil
}

// settle scales what a sweep counted, and lets the next sweep know what it needs.
func (s *sweeper) settle(result *Result, counting *tally.Counting, at time.Time) {
	result.Room = s.target.MaxGroups
	result.Counted.Settle(s.pools, counting, at)
	if share, known := result.Unreclaimed(); known && result.info.Role() != "replica" {
		s.backlog.note(share)
	}
	result.Backlog, result.Full = s.backlog, s.full
}

// knowClaim forgets samples and walks of when the node had other slots: another node
// counts their keys now.
func (s *sweeper) knowClaim(claim *source.Claim) {
	if s.claim != nil && claim != nil && !claim.Equal(s.claim) {
		s.pools.Reset()
	}
	s.claim = claim
}

// knowProcess forgets what was found on another process of the server: it may
// hold other keys.
func (s *sweeper) knowProcess(id string) {
	if s.process != "" && id != s.process {
		s.pools.Reset()
		s.big.known = nil
		s.backlog = Backlog{}
	}
	s.process = id
}

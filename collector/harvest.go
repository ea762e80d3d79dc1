// What a watcher makes of a sweep: what each node and each shard said last, until
// it is too old.

package collector

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/source"
	"keyhealth/collector/sweep"
)

// lastNode is a node with the time of its last answer.
type lastNode struct {
	Node
	answered time.Time
}

// lastShard is what the last good sweep of a shard found.
type lastShard struct {
	result  *sweep.Result
	at      time.Time
	node    string
	round   uint64 // the target's sweep that it was
	claimed uint64 // and the one since which its node says the same of its slots
}

// node is what is known of a node by that name.
func (w *Watcher) node(name string) *lastNode {
	n := w.nodes[name]
	if n == nil {
		n = &lastNode{Node: Node{Name: name}}
		w.nodes[name] = n
	}
	return n
}

// greeted publishes what INFO said before the keys are met.
func (w *Watcher) greeted(hello sweep.Greeting) {
	w.answered = true
	w.state.Health.Up = true
	n := w.node(hello.Node)
	n.Up, n.Ping, n.Info, n.answered = true, hello.Ping, &hello.Info, time.Now()
	w.publish()
}

// finished publishes what a sweep found, or that it failed, beside the old data
// of what failed.
func (w *Watcher) finished(done outcome) {
	health := &w.state.Health
	health.Sweeps++
	health.Duration = done.took
	health.Up = w.answered
	health.Capabilities = w.fleet.Capabilities()
	if done.err == nil {
		w.takeNodes(done.visits)
	} else {
		for _, n := range w.nodes {
			n.Up, n.Ping = false, 0
		}
	}
	results, failures := w.takeShards(done.visits)
	if done.err != nil {
		failures = append(failures, sweep.Visit{Err: done.err})
	} else if len(failures) == 0 && !w.whole() {
		failures = append(failures, sweep.Visit{Err: source.ErrSlotsMoved})
	}
	for _, failure := range failures {
		health.Failures[source.ReasonOf(failure.Err)]++
	}
	w.failed = w.lost(results, failures)
	if health.Swept = len(failures) == 0; health.Swept {
		health.LastSuccess = time.Now()
		health.StaleAfter = w.staleAfter()
	}
	if len(results) > 0 {
		w.takeResults(results)
		w.figure()
	}
	w.report(failures)
	for _, result := range results {
		w.reportBacklog(result.Backlog)
		w.reportFullWalk(result.Full)
	}
	w.publish()
}

// lost counts the sweeps in a row that reached no node, or lost all.
func (w *Watcher) lost(results []*sweep.Result, failures []sweep.Visit) int {
	for _, failure := range failures {
		reason := source.ReasonOf(failure.Err)
		gone := reason == source.ReasonUnreachable || reason == source.ReasonTimeout && !errors.Is(failure.Err, sweep.ErrTooLong)
		if w.answered && !gone || len(results) > 0 {
			return 0
		}
	}
	if len(failures) == 0 {
		return 0
	}
	return w.failed + 1
}

// takeNodes replaces what is known of the nodes. Those that were not visited are
// there no longer, but for replicas that are left alone for a while.
func (w *Watcher) takeNodes(visits []sweep.Visit) {
	there := map[string]bool{}
	for _, v := range visits {
		there[v.Node] = true
		n := w.node(v.Node)
		n.Up, n.Ping, n.Sweep = v.Info != nil, v.Ping, nil
		if v.Info == nil {
			n.Ping = 0
		}
		if v.Swept {
			succeeded := v.Result != nil
			n.Sweep = &succeeded
		}
		if v.Result != nil { // its INFO was read again at the end
			n.Info, n.answered = v.Info, time.Now()
			n.Unreclaimed = v.Result.Garbage()
		}
	}
	maps.DeleteFunc(w.nodes, func(name string, _ *lastNode) bool { return !there[name] && !w.fleet.Avoids(name) })
}

// takeShards replaces what is known of the shards that were swept, and forgets
// those that are there no longer. A shard failed where no node of it could be
// swept.
func (w *Watcher) takeShards(visits []sweep.Visit) (results []*sweep.Result, failures []sweep.Visit) {
	there := map[string]bool{}
	failed := map[string]sweep.Visit{}
	slots := 0
	for _, v := range visits {
		if !there[v.Shard] {
			slots += v.Slots
		}
		there[v.Shard] = true
		switch {
		case v.Result != nil:
			results = append(results, v.Result)
			w.shards[v.Shard] = w.shards[v.Shard].next(v, w.state.Health.Sweeps)
			delete(failed, v.Shard)
		case v.Swept:
			failed[v.Shard] = v
		}
	}
	if len(visits) > 0 {
		maps.DeleteFunc(w.shards, func(id string, _ lastShard) bool { return !there[id] })
		w.known, w.slots = len(there), slots
	}
	for _, id := range slices.Sorted(maps.Keys(failed)) {
		failures = append(failures, failed[id])
	}
	return results, failures
}

// takeResults takes the health of the sweep from its results; a shard that failed
// was not covered.
func (w *Watcher) takeResults(results []*sweep.Result) {
	health := &w.state.Health
	health.Examined = 0
	var covered, all float64
	for _, result := range results {
		health.Examined += result.Examined
		health.SlowBatches += result.Slow
		keys := max(1, result.Keys())
		covered += result.Share * keys
		all += keys
	}
	for _, last := range w.shards {
		if !slices.Contains(results, last.result) {
			all += max(1, last.result.Keys())
		}
	}
	if unknown := w.known - len(w.shards); unknown > 0 { // taken to be as large as the others
		all *= float64(w.known) / float64(w.known-unknown)
	}
	health.Coverage, health.Covered = covered/all, true
	health.LastFullWalk = time.Time{}
	for i, result := range results {
		if i == 0 || result.Full.Ended.Before(health.LastFullWalk) {
			health.LastFullWalk = result.Full.Ended
		}
	}
}

// figure computes the data from what is known of the shards. Part of the keys is
// no total, and where slots have moved between the sweeps of two shards neither is
// the sum: then the data stay what they were, until they are stale.
func (w *Watcher) figure() {
	if !w.whole() {
		return
	}
	w.state.Folded, w.state.Leaks = 0, true
	w.figured = time.Now()
	var nodes []*estimate.Counted
	for _, id := range slices.Sorted(maps.Keys(w.shards)) {
		result := w.shards[id].result
		nodes = append(nodes, &result.Counted)
		w.state.Folded += result.Folded
		w.state.Leaks = w.state.Leaks && !result.Now.IsZero()
		if at := w.shards[id].at; at.Before(w.figured) {
			w.figured = at
		}
	}
	w.state.Databases, w.state.Groups = estimate.Figures(nodes...)
}

// next is what is known of a shard after it was swept.
func (l lastShard) next(v sweep.Visit, round uint64) lastShard {
	claimed := round
	if l.result != nil && l.result.Claim.Equal(v.Result.Claim) {
		claimed = l.claimed
	}
	return lastShard{v.Result, time.Now(), v.Node, round, claimed}
}

// whole says whether the last sweeps of the shards are of all keys, each once.
func (w *Watcher) whole() bool {
	var claims []*source.Claim
	oldest, claimed := uint64(math.MaxUint64), uint64(0)
	for _, last := range w.shards {
		if last.result.Claim == nil { // no Cluster, or nobody tells
			return len(w.shards) == w.known
		}
		claims = append(claims, last.result.Claim)
		oldest, claimed = min(oldest, last.round), max(claimed, last.claimed)
	}
	// Where all nodes were swept again since they say what they say, nothing moves.
	return len(claims) > 0 && source.Fit(claims, w.slots) && (source.Settled(claims) || oldest > claimed)
}

// dropStale withdraws what is too old to be shown, and answers when to look
// again.
func (w *Watcher) dropStale() time.Duration {
	limit := w.state.Health.StaleAfter
	dropped, again := false, limit
	old := func(at time.Time) bool {
		age := time.Since(at)
		if age < limit {
			again = min(again, limit-age)
		}
		return age >= limit
	}
	for _, n := range w.nodes {
		if n.Info != nil && old(n.answered) {
			n.Info, n.Unreclaimed, dropped = nil, nil, true
		}
	}
	maps.DeleteFunc(w.shards, func(_ string, last lastShard) bool { return old(last.at) })
	if w.state.Databases != nil && old(w.figured) {
		w.state.Databases, w.state.Groups, w.state.Folded, w.state.Leaks = nil, nil, 0, false
		dropped = true
	}
	if dropped {
		w.publish()
	}
	return again
}

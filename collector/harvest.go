// What a watcher makes of a sweep: what each node and each shard said last, until
// it is too old.

package collector

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// lastNode is a node with the time of its last answer.
type lastNode struct {
	Node
	answered time.Time
}

// lastShard is what the last good sweep of a shard found.
type lastShard struct {
	result *swept
	at     time.Time
	node   string
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
func (w *Watcher) greeted(hello greeting) {
	w.answered = true
	w.state.Health.Up = true
	n := w.node(hello.node)
	n.Up, n.Ping, n.Info, n.answered = true, hello.ping, &hello.info, time.Now()
	w.publish()
}

// finished publishes what a sweep found, or that it failed, beside the old data
// of what failed.
func (w *Watcher) finished(done outcome) {
	health := &w.state.Health
	health.Sweeps++
	health.Duration = done.took
	health.Up = w.answered
	health.Capabilities = w.fleet.capabilities()
	if done.err == nil {
		w.takeNodes(done.visits)
	} else {
		for _, n := range w.nodes {
			n.Up, n.Ping = false, 0
		}
	}
	results, failures := w.takeShards(done.visits)
	if done.err != nil {
		failures = append(failures, visit{err: done.err})
	} else if len(failures) == 0 && !w.whole(w.results()) {
		failures = append(failures, visit{err: errSlotsMoved})
	}
	for _, failure := range failures {
		health.Failures[reasonOf(failure.err)]++
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
		w.reportBacklog(result.backlog)
		w.reportFullWalk(result.full)
	}
	w.publish()
}

// lost counts the sweeps in a row that reached no node, or lost all.
func (w *Watcher) lost(results []*swept, failures []visit) int {
	for _, failure := range failures {
		reason := reasonOf(failure.err)
		gone := reason == ReasonUnreachable || reason == ReasonTimeout && !errors.Is(failure.err, errTooLong)
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
func (w *Watcher) takeNodes(visits []visit) {
	there := map[string]bool{}
	for _, v := range visits {
		there[v.node] = true
		n := w.node(v.node)
		n.Up, n.Ping, n.Sweep = v.info != nil, v.ping, nil
		if v.info == nil {
			n.Ping = 0
		}
		if v.swept {
			succeeded := v.result != nil
			n.Sweep = &succeeded
		}
		if v.result != nil { // its INFO was read again at the end
			n.Info, n.answered = v.info, time.Now()
			n.Unreclaimed = v.result.garbage()
		}
	}
	maps.DeleteFunc(w.nodes, func(name string, _ *lastNode) bool { return !there[name] && w.fleet.avoided[name] == nil })
}

// takeShards replaces what is known of the shards that were swept, and forgets
// those that are there no longer. A shard failed where no node of it could be
// swept.
func (w *Watcher) takeShards(visits []visit) (results []*swept, failures []visit) {
	there := map[string]bool{}
	failed := map[string]visit{}
	slots := 0
	for _, v := range visits {
		if !there[v.shard] {
			slots += v.slots
		}
		there[v.shard] = true
		switch {
		case v.result != nil:
			results = append(results, v.result)
			w.shards[v.shard] = lastShard{v.result, time.Now(), v.node}
			delete(failed, v.shard)
		case v.swept:
			failed[v.shard] = v
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
func (w *Watcher) takeResults(results []*swept) {
	health := &w.state.Health
	health.Examined = 0
	var covered, all float64
	for _, result := range results {
		health.Examined += result.examined
		health.SlowBatches += result.slow
		keys := max(1, result.keys())
		covered += result.share * keys
		all += keys
	}
	for _, last := range w.shards {
		if !slices.Contains(results, last.result) {
			all += max(1, last.result.keys())
		}
	}
	if unknown := w.known - len(w.shards); unknown > 0 { // taken to be as large as the others
		all *= float64(w.known) / float64(w.known-unknown)
	}
	health.Coverage, health.Covered = covered/all, true
	health.LastFullWalk = time.Time{}
	for i, result := range results {
		if i == 0 || result.full.ended.Before(health.LastFullWalk) {
			health.LastFullWalk = result.full.ended
		}
	}
}

// figure computes the data from what is known of the shards. Part of the keys is
// no total, and where slots have moved between the sweeps of two shards neither is
// the sum: then the data stay what they were, until they are stale.
func (w *Watcher) figure() {
	results := w.results()
	if !w.whole(results) {
		return
	}
	w.state.Folded, w.state.Leaks = 0, true
	for _, result := range results {
		w.state.Folded += result.folded
		w.state.Leaks = w.state.Leaks && !result.now.IsZero()
	}
	w.state.Databases, w.state.Groups = figures(results...)
	w.figured = time.Now()
	for _, last := range w.shards {
		if last.at.Before(w.figured) {
			w.figured = last.at
		}
	}
}

// whole says whether the results are of all keys, each once.
func (w *Watcher) whole(results []*swept) bool {
	if len(results) == 0 {
		return false
	}
	if slices.ContainsFunc(results, func(r *swept) bool { return r.claim == nil }) { // no Cluster, or nobody tells
		return len(results) == w.known
	}
	return fit(results, w.slots)
}

// withdraw takes the data back.
func (w *Watcher) withdraw() {
	w.state.Databases, w.state.Groups, w.state.Folded, w.state.Leaks = nil, nil, 0, false
}

// results are what is known of the shards, in the order of their names.
func (w *Watcher) results() []*swept {
	var results []*swept
	for _, id := range slices.Sorted(maps.Keys(w.shards)) {
		results = append(results, w.shards[id].result)
	}
	return results
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
		w.withdraw()
		dropped = true
	}
	if dropped {
		w.publish()
	}
	return again
}

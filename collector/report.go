// What a watcher logs: each change of state, one line. What to do about a failure is
// source/advice.go; what permits a refused command is here.

package collector

import (
	"fmt"
	"strings"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/sweep"
)

// capabilityAdvice names the ACL rule that permits what was refused.
var capabilityAdvice = map[string]string{
	"info":          "+info",
	"ping":          "+ping",
	"select":        "+select",
	"scan":          "+scan",
	"pttl":          "+pttl, and ~* for the keys",
	"time":          "+time",
	"memory_usage":  "+memory|usage, and ~* for the keys",
	"type":          "+type, and ~* for the keys",
	"length":        "+hlen +llen +scard +zcard +xlen, and ~* for the keys",
	"get":           "+get, and ~* for the keys",
	"no_touch":      "+client|no-touch",
	"random_cursor": "",
	"slot_counts":   "+cluster|nodes +cluster|countkeysinslot",
	"cluster_nodes": "+cluster|nodes",
	"readonly":      "+readonly",
	"sentinel":      "+sentinel|get-master-addr-by-name +sentinel|replicas, on the Sentinels",
}

// noticed is what was logged last, so that only changes are.
type noticed struct {
	problem string          // the reasons of the last sweep's failures; empty: all is well
	refused map[string]bool // capabilities
	broken  string          // why full walks fail; empty: they do not
}

// report logs a change of state, one line each; an unchanged state is silent.
func (w *Watcher) report(failures []sweep.Visit) {
	health := &w.state.Health
	var all strings.Builder
	nodes := map[string][]string{} // that failed, by reason
	for _, failure := range failures {
		fmt.Fprintln(&all, failure.Node, source.ReasonOf(failure.Err))
		reason := source.ReasonOf(failure.Err)
		if nodes[reason] = append(nodes[reason], failure.Node); failure.Node == "" {
			nodes[reason] = []string{} // the failure is that of no node
		}
	}
	problem := all.String()
	switch {
	case problem == "" && health.Sweeps == 1:
		w.log.Info("First sweep done", "keys_examined", health.Examined, "duration", health.Duration.Round(time.Millisecond))
		w.reportUnmatched()
	case problem == w.noticed.problem:
	case problem == "":
		w.log.Info("Sweeps succeed again", "keys_examined", health.Examined)
	default:
		for _, failure := range failures { // one line a reason
			reason := source.ReasonOf(failure.Err)
			if nodes[reason] == nil {
				continue
			}
			log := w.log
			if len(w.nodes) > 1 && len(nodes[reason]) > 0 {
				log = log.With("nodes", nodes[reason])
			}
			log.Error("Sweep failed", "reason", reason, "err", failure.Err, "hint", source.Advice(failure.Err))
			nodes[reason] = nil
		}
	}
	w.noticed.problem = problem
	for _, c := range w.state.Health.Capabilities {
		if c.Permitted == w.noticed.refused[c.Name] {
			w.noticed.refused[c.Name] = !c.Permitted
			w.reportCapability(c)
		}
	}
}

// reportUnmatched names the rules that took no key: a glob with a typo looks as
// healthy as a group without zombies.
func (w *Watcher) reportUnmatched() {
	matched := map[string]bool{}
	for _, g := range w.state.Groups {
		matched[g.Name] = matched[g.Name] || g.Examined > 0
	}
	var unmatched []string
	for _, rule := range w.target.Rules {
		if !matched[rule.Name] {
			unmatched = append(unmatched, rule.Name)
		}
	}
	if len(unmatched) > 0 {
		hint := "compare their globs with the names of the keys"
		if w.state.Health.Coverage < 1 {
			hint += "; they may also be too rare for a sample: KEYHEALTH_SWEEP_FULL_EVERY"
		}
		w.log.Warn("No key that was met matches these groups", "groups", unmatched, "hint", hint)
	}
}

func (w *Watcher) reportCapability(c source.Capability) {
	switch {
	case c.Permitted:
		w.log.Info("Redis permits it again", "capability", c.Name)
	case c.Name == "random_cursor":
		w.log.Warn("SCAN takes no random cursors here: a keyspace above the budget is walked whole, which takes longer")
	case c.Lacking:
		w.log.Warn("Redis lacks a command", "capability", c.Name, "hint", "the server does not know it, or a proxy or rename-command hides it; no ACL rule helps")
	default:
		w.log.Warn("Redis refuses a command", "capability", c.Name, "permit_with", fmt.Sprint("ACL SETUSER <user> ", capabilityAdvice[c.Name]))
	}
}

// reportBacklog says when the budget changes because expired keys pile up.
func (w *Watcher) reportBacklog(b sweep.Backlog) {
	switch {
	case !b.Changed:
	case b.Halved == 0:
		w.log.Info("Expired keys are reclaimed again: the budget is what was set", "budget", w.target.Sweep.MaxKeys)
	default:
		w.log.Warn("Redis reclaims fewer and fewer expired keys: the budget is halved until it does", "budget", b.Budget(w.target.Sweep.MaxKeys))
	}
}

// reportFullWalk says when full walks begin to fail, and when one succeeds again.
func (w *Watcher) reportFullWalk(full sweep.FullWalk) {
	switch {
	case full.Reason == w.noticed.broken:
	case full.Reason == "":
		w.log.Info("Full walks succeed again")
	default:
		w.log.Warn("A full walk failed: the next interval begins another", "reason", full.Reason, "hint", source.AdviceOn(full.Reason))
	}
	w.noticed.broken = full.Reason
}

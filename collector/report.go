package collector

import (
	"fmt"
	"strings"
	"time"
)

// advice says what to do about a failure, where there is something to do.
var advice = map[string]string{
	ReasonUnreachable:  "is the server up, the address right, and does the port want rediss://? In a container 127.0.0.1 is the container itself",
	ReasonTimeout:      "the server or the network is slow, or the sweep has more to do than its timeout allows",
	ReasonTLS:          "check the CA file, the server name, and whether the port speaks TLS: without it the URL begins with redis://",
	ReasonAuth:         "check the user and the password; where none is set: KEYHEALTH_REDIS_PASSWORD_FILE",
	ReasonNoPermission: "the ACL user lacks a permission: see docs/permissions.md",
	ReasonLoading:      "the server is loading its data; the next sweep tries again",
	ReasonBusy:         "a script blocks the server: SCRIPT KILL ends one that has written nothing; the next sweep tries again",
	ReasonMasterDown:   "the replica has lost its master; the next sweep tries again",
	ReasonCluster:      "the Cluster is down or does not serve all slots; the next sweep asks its nodes again",
	ReasonRefused:      "what answers there is no Redis server, or one that lacks what a sweep needs: see docs/permissions.md",
	ReasonOther:        "what answers there may be no Redis server",
	ReasonMaxClients:   "raise maxclients, or find in CLIENT LIST who holds the connections",
}

// What to do where the advice of the reason would mislead.
const (
	hintTooLong    = "find out why the server is slow, or raise KEYHEALTH_SWEEP_TIMEOUT"
	hintProtected  = "the server is in protected mode and takes connections from its own machine only: give it a password, or set protected-mode no"
	hintNoDatabase = "correct KEYHEALTH_DATABASES or the number at the end of KEYHEALTH_REDIS_URL: the server has fewer"
	hintNoCluster  = "leave KEYHEALTH_REDIS_CLUSTER at auto, or give the address of a node of the Cluster"
	hintDatabase0  = "take the database out of KEYHEALTH_REDIS_URL, or set KEYHEALTH_DATABASES to 0"
	hintSeeds      = "give one address in KEYHEALTH_REDIS_URL, and each server of its own as a target in KEYHEALTH_CONFIG_FILE"
	hintSentinel   = "write redis+sentinel://HOST:PORT/NAME, with the name of the set"
	hintNoSentinel = "give the address of a Sentinel, mostly at port 26379, or redis:// for a server"
	hintNoSet      = "correct the name at the end of KEYHEALTH_REDIS_URL: SENTINEL MASTERS lists the sets that there are"
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
}

// noticed is what was logged last, so that only changes are.
type noticed struct {
	problem string          // the reasons of the last sweep's failures; empty: all is well
	refused map[string]bool // capabilities
	broken  string          // why full walks fail; empty: they do not
}

// report logs a change of state, one line each; an unchanged state is silent.
func (w *Watcher) report(failures []visit) {
	health := &w.state.Health
	var all strings.Builder
	nodes := map[string][]string{} // that failed, by reason
	for _, failure := range failures {
		fmt.Fprintln(&all, failure.node, reasonOf(failure.err))
		nodes[reasonOf(failure.err)] = append(nodes[reasonOf(failure.err)], failure.node)
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
			reason := reasonOf(failure.err)
			if nodes[reason] == nil {
				continue
			}
			log := w.log
			if len(w.nodes) > 1 {
				log = log.With("nodes", nodes[reason])
			}
			log.Error("Sweep failed", "reason", reason, "err", failure.err, "hint", hintOf(failure.err))
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

func (w *Watcher) reportCapability(c Capability) {
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
func (w *Watcher) reportBacklog(b backlog) {
	switch {
	case !b.changed:
	case b.halved == 0:
		w.log.Info("Expired keys are reclaimed again: the budget is what was set", "budget", w.target.Sweep.MaxKeys)
	default:
		w.log.Warn("Redis reclaims fewer and fewer expired keys: the budget is halved until it does", "budget", b.budget(w.target.Sweep.MaxKeys))
	}
}

// reportFullWalk says when full walks begin to fail, and when one succeeds again.
func (w *Watcher) reportFullWalk(full fullState) {
	switch {
	case full.reason == w.noticed.broken:
	case full.reason == "":
		w.log.Info("Full walks succeed again")
	default:
		w.log.Warn("A full walk failed: the next interval begins another", "reason", full.reason, "hint", advice[full.reason])
	}
	w.noticed.broken = full.reason
}

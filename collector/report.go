package collector

import (
	"fmt"
	"time"
)

// advice says what to do about a failure, where there is something to do.
var advice = map[string]string{
	ReasonUnreachable:  "is the server up and the address right? In a container 127.0.0.1 is the container itself",
	ReasonTimeout:      "the server or the network is slow, or the sweep has more to do than its timeout allows",
	ReasonTLS:          "check the CA file, the server name, and whether the port speaks TLS",
	ReasonAuth:         "check the user and the password",
	ReasonNoPermission: "the ACL user lacks a permission: see docs/permissions.md",
	ReasonLoading:      "the server is loading its data; the next sweep tries again",
	ReasonBusy:         "a script blocks the server; the next sweep tries again",
	ReasonMaxClients:   "the server takes no more connections: raise maxclients or find who holds them",
}

// capabilityAdvice names the ACL rule that permits what was refused.
var capabilityAdvice = map[string]string{
	"info":          "+info",
	"ping":          "+ping",
	"select":        "+select",
	"scan":          "+scan",
	"pttl":          "+pttl, and ~* for the keys",
	"time":          "+time",
	"memory_usage":  "+memory|usage, and ~* for the keys",
	"random_cursor": "",
}

// report logs a change of state, one line each; an unchanged state is silent.
func (w *Watcher) report(reason string, err error) {
	health := &w.state.Health
	switch {
	case reason == "" && health.Sweeps == 1:
		w.log.Info("First sweep done", "keys_examined", health.Examined, "duration", health.Duration.Round(time.Millisecond))
	case reason == w.problem:
	case reason == "":
		w.log.Info("Sweeps succeed again", "keys_examined", health.Examined)
	default:
		w.log.Error("Sweep failed", "reason", reason, "err", err, "hint", advice[reason])
	}
	w.problem = reason
	for _, c := range w.state.Health.Capabilities {
		if c.Permitted == w.noticed[c.Name] {
			w.noticed[c.Name] = !c.Permitted
			w.reportCapability(c)
		}
	}
}

func (w *Watcher) reportCapability(c Capability) {
	switch {
	case c.Permitted:
		w.log.Info("Redis permits it again", "capability", c.Name)
	case c.Name == "random_cursor":
		w.log.Warn("SCAN takes no random cursors here: a keyspace above the budget is walked part by part")
	default:
		w.log.Warn("Redis refuses a command", "capability", c.Name, "permit_with", fmt.Sprint("ACL SETUSER <user> ", capabilityAdvice[c.Name]))
	}
}

// What a sweep found and how the watching goes, as values that never change
// once they are published. Data and health are apart: a failure leaves the data
// as they were and shows in the health.

package collector

import (
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/source"
)

// Snapshot is the latest state of a target.
type Snapshot struct {
	Target string
	Health Health
	Nodes  []Node // by name

	Databases []estimate.Database // sorted by number; nil before the first sweep, or when stale
	Groups    []estimate.Group    // sorted by database, rules in their order
	Folded    int                 // discovered groups that were too many to show
	Leaks     bool                // the server's clock is known

	SelfTest *SelfTest // the last one; nil: none has been made
}

// Health says how the watching goes.
type Health struct {
	Up           bool      // the last attempt got an INFO
	Swept        bool      // the last sweep succeeded
	Sweeps       uint64    // finished ones, failed ones too
	LastSuccess  time.Time // zero: never
	LastFullWalk time.Time // zero: never
	Duration     time.Duration
	Interval     time.Duration
	StaleAfter   time.Duration
	Examined     int64   // keys of the last successful sweep
	Coverage     float64 // of SCAN's order, in the last sweep that met keys
	Covered      bool    // there was one
	SlowBatches  uint64  // that took much longer than usual, in all sweeps
	Failures     map[string]uint64
	Commands     map[string]uint64
	Capabilities []source.Capability
}

// Node is one Redis server.
type Node struct {
	Name  string
	Up    bool          // it answered INFO at the last attempt
	Ping  time.Duration // 0: unknown
	Sweep *bool         // whether its last sweep succeeded; nil: its keys are not swept

	Info        *source.Info    // nil before the first answer, or when it is stale
	Unreclaimed map[int]float64 // share of a database's keys that is expired and not reclaimed, where that is known
}

// What a sweep found and how the watching goes, as values that never change
// once they are published. Data and health are apart: a failure leaves the data
// as they were and shows in the health.

package collector

import "time"

// Snapshot is the latest state of a target.
type Snapshot struct {
	Target string
	Health Health
	Nodes  []Node // by name

	Databases []Database // sorted by number; nil before the first sweep, or when stale
	Groups    []Group    // sorted by database, rules in their order
	Folded    int        // discovered groups that were too many to show
	Leaks     bool       // the server's clock is known

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
	Capabilities []Capability
}

// Node is one Redis server.
type Node struct {
	Name  string
	Up    bool          // it answered INFO at the last attempt
	Ping  time.Duration // 0: unknown
	Sweep *bool         // whether its last sweep succeeded; nil: its keys are not swept

	Info        *Info           // nil before the first answer, or when it is stale
	Unreclaimed map[int]float64 // share of a database's keys that is expired and not reclaimed, where that is known
}

// Database sums up one database. Keys and WithoutTTL are exact where the server
// tells sizes (Sized).
type Database struct {
	DB         int
	Sized      bool
	Keys       int64
	WithoutTTL int64
	Expected   Group // all groups that expect a TTL, taken together; its Zombies are nil where they are unknown
}

// Group is what sweeps found of one group in one database. Counts are exact
// after a walk of a keyspace that stands still, else estimates.
type Group struct {
	DB          int
	Name        string
	Source      string // rule, preset, discovered or other
	Library     string // of a preset: the project whose keys they are
	TTL         Expectation
	UniqueNames bool // names made fresh per request are meant here

	Examined       int64     // keys behind the figures, of several samples where one has few
	Oldest         time.Time // when the oldest sweep behind them ended
	Keys           float64
	WithoutTTL     float64
	ByTTL          [len(bandNames)]float64 // adds up to Keys
	Excessive      float64
	UniqueNameKeys [kindNone]float64 // by the kind of id in the name; a key counts under one
	Zombies        *Zombies          // nil: no TTL is expected, or none of the suspects could be looked at again
	Limited        bool              // the group has a limit: who is locked out is judged
	Memory         *Memory           // nil: sizes are off or refused
	Big            *BigKeys          // nil: nobody looks for them
}

// Zombies are the keys of a group that stay without the TTL they should have.
type Zombies struct {
	Keys        float64
	Seen        int64 // confirmed ones behind the figures, never scaled
	Ratio       float64
	Interval    Interval // of Ratio, 95 %
	Rated       bool     // there are enough keys for a ratio
	Leaked      float64
	LockoutRisk float64
	LockedOut   float64
	StatesKnown bool // LockedOut is judged by states that were read
}

// BigKeys are the big keys of a group that are known, never scaled.
type BigKeys struct {
	Keys         int64
	LargestBytes int64 // 0: none is known
}

// Memory is an estimate in bytes.
type Memory struct {
	Keys    float64
	Zombies float64
}

// Sources of a group.
const (
	SourceRule       = "rule"
	SourcePreset     = "preset"
	SourceDiscovered = "discovered"
	SourceOther      = "other"
)

// OtherGroup takes the keys that no other group does.
const OtherGroup = "(other)"

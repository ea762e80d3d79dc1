// What is published of a database and of a group: figures, with what they are
// worth.

package estimate

import (
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/tally"
)

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
	TTL         classify.Expectation
	UniqueNames bool // names made fresh per request are meant here

	Examined       int64     // keys behind the figures, of several samples where one has few
	Oldest         time.Time // when the oldest sweep behind them ended
	Keys           float64
	WithoutTTL     float64
	ByTTL          [len(tally.BandNames)]float64 // adds up to Keys
	Excessive      float64
	UniqueNameKeys [classify.KindNone]float64 // by the kind of id in the name; a key counts under one
	Zombies        *Zombies                   // nil: no TTL is expected, or none of the suspects could be looked at again
	Limited        bool                       // the group has a limit: who is locked out is judged
	Memory         *Memory                    // nil: sizes are off or refused
	Big            *tally.BigKeys             // nil: nobody looks for them
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

// Memory is an estimate in bytes.
type Memory struct {
	Keys    float64
	Zombies float64
}

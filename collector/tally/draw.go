// Which key names a sweep keeps until it looks at the keys again: a fair random
// choice within a bounded memory. Nothing else in the package keeps a name.

package tally

import (
	"math/rand/v2"
	"time"
)

// The names a sweep keeps of a node. Longer names than LongestDrawn are kept
// only while everything is.
const (
	maxNames     = 10_000
	maxNameBytes = 4 << 20
	LongestDrawn = 4096
	LimitedTo    = 100 // a group, once not everything can be kept
)

// Key is a key that a sweep will look at again.
type Key struct {
	Name    string
	DB      int
	Group   *Group
	Seen    time.Time // the last look
	Due     time.Time // the next look
	Without bool      // it had no TTL
	Refused bool      // it could not be looked at again
	Gone    bool      // it was there no more
}

// Store bounds the names that all draws of a node hold together.
type Store struct {
	rng       *rand.Rand
	limit     int // names a limited draw
	names     int
	bytes     int
	draws     []*Draw
	unlimited bool // some draw keeps everything so far
}

// Draw is a choice among the keys offered to it: all of them, or where it is
// limited a uniform random choice (Vitter's algorithm R).
type Draw struct {
	limited bool
	Keys    []Key
	offered int64 // keys short enough to be drawn
}

// NewStore is one whose limited draws keep so many names each.
func NewStore(rng *rand.Rand, limit int) *Store {
	return &Store{rng: rng, limit: limit}
}

// NewDraw makes a draw that counts against the store. One that is not limited
// becomes so when the store is full.
func (s *Store) NewDraw(limited bool) *Draw {
	d := &Draw{limited: limited}
	s.unlimited = s.unlimited || !limited
	s.draws = append(s.draws, d)
	return d
}

// offer gives k its fair chance of being kept in d.
func (s *Store) offer(d *Draw, k Key) {
	short := len(k.Name) <= LongestDrawn
	grows := !d.limited || short && len(d.Keys) < s.limit
	if grows && s.unlimited && (s.names >= maxNames || s.bytes+len(k.Name) > maxNameBytes) {
		s.shrink()
	}
	if short {
		d.offered++
	}
	switch {
	case d.limited && !short:
	case !d.limited || len(d.Keys) < s.limit:
		if s.bytes+len(k.Name) <= maxNameBytes {
			d.Keys = append(d.Keys, k)
			s.names++
			s.bytes += len(k.Name)
		}
	default:
		at := s.rng.Int64N(d.offered)
		if at < int64(len(d.Keys)) && s.bytes+len(k.Name)-len(d.Keys[at].Name) <= maxNameBytes {
			s.bytes += len(k.Name) - len(d.Keys[at].Name)
			d.Keys[at] = k
		}
	}
}

// shrink turns every draw from all keys into a random choice of them.
func (s *Store) shrink() {
	s.names, s.bytes, s.unlimited = 0, 0, false
	for _, d := range s.draws {
		d.limited = true
		short := make([]Key, 0, s.limit)
		for _, i := range s.rng.Perm(len(d.Keys)) {
			if len(short) < s.limit && len(d.Keys[i].Name) <= LongestDrawn {
				short = append(short, d.Keys[i])
				s.bytes += len(d.Keys[i].Name)
			}
		}
		d.Keys = short
		s.names += len(short)
	}
}

// Which key names a sweep keeps until it looks at the keys again: a fair random
// choice within a bounded memory. Nothing else in the package keeps a name.

package collector

import (
	"math/rand/v2"
	"time"
)

// The names a sweep keeps of a node. Longer names than longestDrawn are kept
// only while everything is.
const (
	maxNames     = 10_000
	maxNameBytes = 4 << 20
	longestDrawn = 4096
	limitedTo    = 100 // a group, once not everything can be kept
)

// key is a key that a sweep will look at again.
type key struct {
	name    string
	db      int
	tally   *tally
	seen    time.Time // the last look
	due     time.Time // the next look
	without bool      // it had no TTL
	refused bool      // it could not be looked at again
	gone    bool      // it was there no more
}

// nameStore bounds the names that all draws of a node hold together.
type nameStore struct {
	rng       *rand.Rand
	limit     int // names a limited draw
	names     int
	bytes     int
	draws     []*draw
	unlimited bool // some draw keeps everything so far
}

// draw is a choice among the keys offered to it: all of them, or where it is
// limited a uniform random choice (Vitter's algorithm R).
type draw struct {
	limited bool
	keys    []key
	offered int64 // keys short enough to be drawn
}

// newNameStore is one whose limited draws keep so many names each.
func newNameStore(rng *rand.Rand, limit int) *nameStore {
	return &nameStore{rng: rng, limit: limit}
}

// newDraw makes a draw that counts against the store. One that is not limited
// becomes so when the store is full.
func (s *nameStore) newDraw(limited bool) *draw {
	d := &draw{limited: limited}
	s.unlimited = s.unlimited || !limited
	s.draws = append(s.draws, d)
	return d
}

// offer gives k its fair chance of being kept in d.
func (s *nameStore) offer(d *draw, k key) {
	short := len(k.name) <= longestDrawn
	grows := !d.limited || short && len(d.keys) < s.limit
	if grows && s.unlimited && (s.names >= maxNames || s.bytes+len(k.name) > maxNameBytes) {
		s.shrink()
	}
	if short {
		d.offered++
	}
	switch {
	case d.limited && !short:
	case !d.limited || len(d.keys) < s.limit:
		if s.bytes+len(k.name) <= maxNameBytes {
			d.keys = append(d.keys, k)
			s.names++
			s.bytes += len(k.name)
		}
	default:
		at := s.rng.Int64N(d.offered)
		if at < int64(len(d.keys)) && s.bytes+len(k.name)-len(d.keys[at].name) <= maxNameBytes {
			s.bytes += len(k.name) - len(d.keys[at].name)
			d.keys[at] = k
		}
	}
}

// shrink turns every draw from all keys into a random choice of them.
func (s *nameStore) shrink() {
	s.names, s.bytes, s.unlimited = 0, 0, false
	for _, d := range s.draws {
		d.limited = true
		short := make([]key, 0, s.limit)
		for _, i := range s.rng.Perm(len(d.keys)) {
			if len(short) < s.limit && len(d.keys[i].name) <= longestDrawn {
				short = append(short, d.keys[i])
				s.bytes += len(d.keys[i].name)
			}
		}
		d.keys = short
		s.names += len(short)
	}
}

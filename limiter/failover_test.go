// This file owns what becomes of limits when a replica takes over that lacks the
// last writes.

package limiter

import (
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// story is what a subject does before the link is cut, after it and after the
// failover, when it makes all the calls that are left. The limit is 10.
type story struct {
	name       string
	kept, lost int64 // calls before and after the cut
	reserved   int64 // reserved calls: after the cut, or
	early      bool  // before it
	charged    int64 // of those, after the failover; 0 is a cancellation
	passed     int64 // calls that pass in all
	bucket     int64 // the same of a bucket, where it differs
}

var stories = []story{
	{name: "none-lost", kept: 7, passed: 10},
	{name: "some-lost", kept: 3, lost: 4, passed: 14},
	{name: "all-lost", lost: 10, passed: 20},
	{name: "kept-committed", kept: 3, reserved: 5, early: true, charged: 2, passed: 10},
	{name: "kept-cancelled", kept: 3, reserved: 5, early: true, passed: 10},
	// What the new primary does not know to be reserved is given back all the
	// same, from the calls of others: it is among the calls that were lost.
	{name: "lost-committed", kept: 3, reserved: 5, charged: 2, passed: 15},
	{name: "lost-cancelled", kept: 3, reserved: 5, passed: 13},
	{name: "lost-whole", kept: 3, reserved: 5, charged: 5, passed: 15},
	// No window is known: a commitment opens one, and a bucket has none.
	{name: "alone-committed", reserved: 5, charged: 2, passed: 10, bucket: 12},
	{name: "alone-cancelled", reserved: 5, passed: 10},
}

// telling is a subject in the middle of its story.
type telling struct {
	story
	*Limiter
	passes      int64
	reservation *Reservation
}

// allow makes calls that have to pass.
func (s *telling) allow(t *testing.T, n int64) {
	t.Helper()
	for range n {
		if got, err := s.Allow(t.Context(), "alice"); err != nil || !got.Allowed {
			t.Fatalf("%s: %+v, %v", s.name, got, err)
		}
		s.passes++
	}
}

func (s *telling) reserve(t *testing.T, now bool) {
	t.Helper()
	if s.reserved > 0 && now {
		s.reservation = mustReserve(t, s.Limiter, s.reserved)
	}
}

func (s *telling) settle(t *testing.T) {
	t.Helper()
	if s.reservation == nil {
		return
	}
	if s.passes += s.charged; s.charged > 0 {
		if err := s.reservation.Commit(t.Context(), s.charged); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	} else if err := s.reservation.Cancel(t.Context()); err != nil {
		t.Errorf("%s: %v", s.name, err)
	}
}

// exhaust makes calls until one is refused.
func (s *telling) exhaust(t *testing.T) {
	t.Helper()
	for {
		got, err := s.Allow(t.Context(), "alice")
		if err != nil || got.Degraded || got.Healed {
			t.Fatalf("%s: %+v, %v", s.name, got, err)
		}
		if !got.Allowed {
			return
		}
		s.passes++
	}
}

// TestFailover: at most the limit, and the calls whose writes had not been
// replicated, pass. No key is left without a sound TTL.
func TestFailover(t *testing.T) {
	const limit, long = 10, 360 * 24 * time.Hour // so long that no tenth of it ends meanwhile
	fixed, sliding := FixedWindow{Limit: limit, Window: long}, SlidingWindow{Limit: limit, Window: long}
	bucket := TokenBucket{Capacity: limit, Refill: 1, Every: hour}
	policies := map[string][]Policy{"fixed": {fixed}, "sliding": {sliding}, "bucket": {bucket}, "several": {bucket, fixed, sliding}}
	for kind, start := range map[string]func(*testing.T, string) *failover{"replication": ofReplication, "cluster": ofCluster} {
		redistest.Run(t, kind, func(t *testing.T, binary string) {
			f := start(t, binary)
			until(t, f.replica, "master_link_status:up")
			var all []*telling
			for name, p := range policies {
				for _, s := range stories {
					if name == "bucket" && s.bucket != 0 {
						s.passed = s.bucket
					}
					s.name = name + "-" + s.name
					all = append(all, &telling{story: s, Limiter: mustNewWith(t, f.client, Options{Down: FailClosed, Prefix: s.name}, p...)})
				}
			}
			for _, s := range all {
				s.allow(t, s.kept)
				s.reserve(t, s.early)
			}
			f.cut(t)
			for _, s := range all {
				s.allow(t, s.lost)
				s.reserve(t, !s.early)
			}
			f.over(t)
			f.follow(t)
			for _, s := range all {
				s.settle(t)
				f.checkTTLs(t, s.Limiter)
				s.exhaust(t)
				f.checkTTLs(t, s.Limiter)
				lost := s.lost
				if !s.early {
					lost += s.reserved
				}
				if s.passes != s.passed || s.passes > limit+lost {
					t.Errorf("%s: %d calls passed, want %d, and at most %d + %d lost", s.name, s.passes, s.passed, limit, lost)
				}
			}
			// It took over without the scripts.
			if stats := f.replica.Client(t).Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_eval:") {
				t.Errorf("no script was sent to the new primary: %s", stats)
			}
		})
	}
}

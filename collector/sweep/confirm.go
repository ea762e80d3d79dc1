// The second and third look at keys without TTL, which tell a zombie from a key
// between its INCR and its EXPIRE; and the clock by which leaks are judged. Which
// keys are suspects is package tally, what is made of them package estimate.

package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// A healthy two-step limiter shows its key without TTL for a moment. The second
// look comes at least lookAgain later, and by a random part of lookJitter more
// for each key: looks at fixed distances would meet windows of a whole second
// at the same moment again.
const (
	lookAgain  = 2 * time.Second
	lookJitter = time.Second
	// Groups with a max TTL up to this, or with none stated, get a third look.
	thirdLookBelow = 20 * time.Second
)

// lookDelays is when a second look comes: at least again after the one before,
// and by a random part of jitter more.
type lookDelays struct{ again, jitter time.Duration }

// confirm looks again at the keys without TTL of groups that expect one.
func (s *session) confirm(ctx context.Context, databases []*tally.Database) error {
	var keys []*tally.Key
	for _, d := range databases {
		for _, t := range d.Groups {
			if t.Suspects == nil {
				continue
			}
			for i := range t.Suspects.Keys {
				keys = append(keys, &t.Suspects.Keys[i])
			}
		}
	}
	still, err := s.look(ctx, keys)
	if err != nil {
		return err
	}
	var again []*tally.Key
	for _, k := range still {
		if bound, stated := k.Group.MaxTTL(k.Name); !stated || bound <= thirdLookBelow {
			again = append(again, k)
			continue
		}
		k.Group.Confirmed = append(k.Group.Confirmed, *k)
	}
	if still, err = s.look(ctx, again); err != nil {
		return err
	}
	for _, k := range still {
		k.Group.Confirmed = append(k.Group.Confirmed, *k)
	}
	for _, k := range keys {
		if k.Refused { // what nobody could look at is no zombie, and no healthy key either
			continue
		}
		k.Group.Looked++
		if k.Gone {
			k.Group.Gone++
		}
	}
	return s.readClock(ctx)
}

// look asks for the TTL of each key once more, each at its own time, and
// answers those that still have none.
func (s *session) look(ctx context.Context, keys []*tally.Key) (still []*tally.Key, err error) {
	now := time.Now()
	for _, k := range keys {
		k.Due = laterOf(k.Seen.Add(s.delays.again), now).Add(time.Duration(s.rng.Int64N(int64(s.delays.jitter))))
	}
	slices.SortFunc(keys, func(a, b *tally.Key) int { return a.Due.Compare(b.Due) })
	for len(keys) > 0 {
		if err := s.rest(ctx, time.Until(keys[0].Due)); err != nil {
			return nil, err
		}
		ready := 1
		for now := time.Now(); ready < min(len(keys), s.target.Sweep.ScanCount) && !keys[ready].Due.After(now); {
			ready++
		}
		found, err := s.lookAt(ctx, keys[:ready])
		if err != nil {
			return nil, err
		}
		still = append(still, found...)
		keys = keys[ready:]
	}
	return still, nil
}

// lookAt is one batch of looks, a database at a time.
func (s *session) lookAt(ctx context.Context, keys []*tally.Key) (still []*tally.Key, err error) {
	slices.SortStableFunc(keys, func(a, b *tally.Key) int { return cmp.Compare(a.DB, b.DB) })
	for len(keys) > 0 {
		began := time.Now()
		same := 1
		for same < len(keys) && keys[same].DB == keys[0].DB {
			same++
		}
		if err := s.use(ctx, keys[0].DB); err != nil {
			return nil, err
		}
		names := make([]string, same)
		for i, k := range keys[:same] {
			names[i] = k.Name
		}
		ttls, err := s.conn.TTLs(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("PTTL: %w", err)
		}
		for i, k := range keys[:same] {
			k.Seen = time.Now()
			switch ttls[i] {
			case source.TTLNone:
				still = append(still, k)
			case source.TTLGone:
				k.Gone = true
			case source.TTLRefused:
				k.Refused = true
				s.capabilities.Refuse("pttl")
			}
		}
		keys = keys[same:]
		if err := s.rest(ctx, s.pacer.rest(time.Since(began), 1)); err != nil {
			return nil, err
		}
	}
	return still, nil
}

// readClock asks the server for its time, by which leaks are judged.
func (s *session) readClock(ctx context.Context) error {
	now, err := s.conn.Now(ctx)
	switch {
	case s.capabilities.Note("time", err) == nil:
		s.now = now
	case !source.Denies(err):
		return fmt.Errorf("TIME: %w", err)
	}
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

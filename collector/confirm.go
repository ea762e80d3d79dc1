package collector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
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
func (s *session) confirm(ctx context.Context, databases []*dbTally) error {
	var keys []*key
	for _, d := range databases {
		for _, t := range d.groups {
			if t.suspects == nil {
				continue
			}
			for i := range t.suspects.keys {
				keys = append(keys, &t.suspects.keys[i])
			}
		}
	}
	still, err := s.look(ctx, keys)
	if err != nil {
		return err
	}
	var again []*key
	for _, k := range still {
		if bound, stated := k.tally.maxTTL(k.name); !stated || bound <= thirdLookBelow {
			again = append(again, k)
			continue
		}
		k.tally.confirmed = append(k.tally.confirmed, *k)
	}
	if still, err = s.look(ctx, again); err != nil {
		return err
	}
	for _, k := range still {
		k.tally.confirmed = append(k.tally.confirmed, *k)
	}
	for _, k := range keys {
		if k.refused { // what nobody could look at is no zombie, and no healthy key either
			continue
		}
		k.tally.looked++
		if k.gone {
			k.tally.gone++
		}
	}
	return s.readClock(ctx)
}

// look asks for the TTL of each key once more, each at its own time, and
// answers those that still have none.
func (s *session) look(ctx context.Context, keys []*key) (still []*key, err error) {
	now := time.Now()
	for _, k := range keys {
		k.due = laterOf(k.seen.Add(s.delays.again), now).Add(time.Duration(s.rng.Int64N(int64(s.delays.jitter))))
	}
	slices.SortFunc(keys, func(a, b *key) int { return a.due.Compare(b.due) })
	for len(keys) > 0 {
		if err := s.rest(ctx, time.Until(keys[0].due)); err != nil {
			return nil, err
		}
		ready := 1
		for now := time.Now(); ready < min(len(keys), s.target.Sweep.ScanCount) && !keys[ready].due.After(now); {
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
func (s *session) lookAt(ctx context.Context, keys []*key) (still []*key, err error) {
	slices.SortStableFunc(keys, func(a, b *key) int { return cmp.Compare(a.db, b.db) })
	for len(keys) > 0 {
		began := time.Now()
		same := 1
		for same < len(keys) && keys[same].db == keys[0].db {
			same++
		}
		if err := s.use(ctx, keys[0].db); err != nil {
			return nil, err
		}
		names := make([]string, same)
		for i, k := range keys[:same] {
			names[i] = k.name
		}
		ttls, err := s.conn.ttls(ctx, names)
		if err != nil {
			return nil, fmt.Errorf("PTTL: %w", err)
		}
		for i, k := range keys[:same] {
			k.seen = time.Now()
			switch ttls[i] {
			case ttlNone:
				still = append(still, k)
			case ttlGone:
				k.gone = true
			case ttlRefused:
				k.refused = true
				s.capabilities.refuse("pttl")
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
	now, err := s.conn.now(ctx)
	switch {
	case s.capabilities.note("time", err) == nil:
		s.now = now
	case !denies(err):
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

// The sizes of some keys of each group, by MEMORY USAGE, for the estimate of its
// memory. What is met here and is big goes to bigkeys.go, which also searches for
// more. MEMORY USAGE itself, and what its refusal means, is types.go.

package sweep

import (
	"context"
	"time"

	"keyhealth/collector/tally"
)

// memoryBatch is how many MEMORY USAGE are sent in one write: each may walk a
// few elements of a collection.
const memoryBatch = 10

// measureSizes asks for the memory of a bounded random part of each group.
func (s *session) measureSizes(ctx context.Context, databases []*tally.Database) error {
	if s.target.Sweep.MemorySamples == 0 {
		return nil
	}
	for _, d := range databases {
		for _, t := range d.Groups {
			if err := s.measureGroup(ctx, t); err != nil {
				return err
			}
			if s.denied["memory_usage"] {
				return nil
			}
		}
	}
	return nil
}

// measureGroup spends up to half of the group's samples on keys without TTL
// (the confirmed zombies where the group has some), the rest on keys with one.
func (s *session) measureGroup(ctx context.Context, t *tally.Group) error {
	without, into := t.MemWithout.Keys, &t.Size.Without
	if t.ExpectsTTL() {
		without, into = t.Confirmed, &t.Size.Zombies
	}
	budget := s.target.Sweep.MemorySamples
	part := min(len(without), max(budget/2, budget-len(t.MemWith.Keys)))
	if err := s.measureKeys(ctx, s.pick(without, part), into); err != nil {
		return err
	}
	return s.measureKeys(ctx, s.pick(t.MemWith.Keys, budget-part), &t.Size.With)
}

// pick is a random choice of n keys.
func (s *session) pick(keys []tally.Key, n int) []tally.Key {
	n = min(n, len(keys))
	picked := make([]tally.Key, 0, n)
	for _, i := range s.rng.Perm(len(keys))[:n] {
		picked = append(picked, keys[i])
	}
	return picked
}

func (s *session) measureKeys(ctx context.Context, keys []tally.Key, into *tally.Mean) error {
	for len(keys) > 0 {
		began := time.Now()
		batch := keys[:min(memoryBatch, len(keys))]
		keys = keys[len(batch):]
		if err := s.use(ctx, batch[0].DB); err != nil {
			return err
		}
		answers, err := s.memoryOf(ctx, namesOf(batch))
		if answers == nil {
			return err
		}
		for i, bytes := range answers {
			if bytes >= s.big.Bytes && s.big.Budget > 0 {
				s.big.add(bigKey{db: batch[i].DB, name: batch[i].Name, bytes: bytes})
			}
			if bytes >= 0 {
				into.Add(float64(bytes))
			}
		}
		if err := s.rest(ctx, s.pacer.rest(time.Since(began), 1)); err != nil {
			return err
		}
	}
	return nil
}

// The search for big keys: a random part of the keys is asked for type, memory
// and length within a budget of calls, collections first. Those that were found
// are remembered and looked at again in each sweep.

package sweep

import (
	"cmp"
	"context"
	"slices"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

// mostBigKeys bounds what is remembered of a node.
const mostBigKeys = 100

// smallestElement is the least memory that an element of a collection takes, in
// bytes: a small number in a packed list. A smaller key cannot have that many.
const smallestElement = 2

// bigKey is a key that is or may be big.
type bigKey struct {
	db      int
	name    string
	keyType string
	bytes   int64
	length  int64 // elements; 0: unknown, or no collection
}

func (k bigKey) is(other bigKey) bool { return k.db == other.db && k.name == other.name }

// bigKeys remembers the big keys of a node.
type bigKeys struct {
	spec.BigKeySearch
	known []bigKey
}

// add takes a key that is big, or is to be looked at next time because it may be.
func (b *bigKeys) add(k bigKey) {
	if len(k.name) <= tally.LongestDrawn && !slices.ContainsFunc(b.known, k.is) {
		b.known = append(b.known, k)
	}
}

func (b *bigKeys) isBig(k bigKey) bool { return k.bytes >= b.Bytes || k.length >= b.Elements }

// keep forgets all but the biggest of those that are big. Looking at them again
// takes three calls each, at most half of the budget.
func (b *bigKeys) keep() {
	b.known = slices.DeleteFunc(b.known, func(k bigKey) bool { return !b.isBig(k) })
	slices.SortStableFunc(b.known, func(a, b bigKey) int { return cmp.Compare(b.bytes, a.bytes) })
	b.known = b.known[:min(len(b.known), mostBigKeys, b.Budget/6)]
}

// searchBig looks at the known big keys again and spends what is left of the
// budget on random ones. It says whether the server lets us.
func (s *session) searchBig(ctx context.Context, databases []*tally.Database) (searched bool, err error) {
	if s.big.Budget == 0 || s.denied["memory_usage"] {
		return false, nil
	}
	s.big.keep()
	queue := slices.Clone(s.big.known)
	for _, k := range s.pick(s.counting.Big.Keys, (s.big.Budget-3*len(queue))/2) {
		if candidate := (bigKey{db: k.DB, name: k.Name}); !slices.ContainsFunc(queue[:len(s.big.known)], candidate.is) {
			queue = append(queue, candidate)
		}
	}
	calls := len(queue)
	if queue, err = s.inBatches(ctx, queue, s.target.Sweep.ScanCount, s.learnTypes); err != nil {
		return false, err
	}
	slices.SortStableFunc(queue, func(a, b bigKey) int { return cmp.Compare(a.class(), b.class()) })
	queue = queue[:min(len(queue), max(0, s.big.Budget-calls))]
	if queue, err = s.inBatches(ctx, queue, memoryBatch, s.learnSizes); err != nil {
		return false, err
	}
	if s.denied["type"] || s.denied["memory_usage"] {
		return false, nil
	}
	s.big.known = nil
	for _, k := range queue {
		s.big.add(k)
	}
	s.big.keep()
	for _, d := range databases {
		s.assignBig(d)
	}
	return true, nil
}

// class orders what is sized: what was big, then collections, then strings.
func (k bigKey) class() int {
	switch {
	case k.bytes > 0:
		return 0
	case source.HasLength(k.keyType):
		return 1
	}
	return 2
}

// assignBig counts a database's big keys in their groups.
func (s *session) assignBig(d *tally.Database) {
	for _, k := range s.big.known {
		if k.db == d.DB {
			t := s.home(d, k.name, k.keyType)
			t.Big.Keys++
			t.Big.LargestBytes = max(t.Big.LargestBytes, k.bytes)
		}
	}
}

// inBatches calls f with at most so many keys of one database at a time and
// answers those it leaves.
func (s *session) inBatches(ctx context.Context, keys []bigKey, most int, f func(context.Context, []bigKey) ([]bigKey, error)) (left []bigKey, err error) {
	slices.SortStableFunc(keys, func(a, b bigKey) int { return cmp.Compare(a.db, b.db) })
	for len(keys) > 0 {
		began, n := time.Now(), 1
		for n < min(len(keys), most) && keys[n].db == keys[0].db {
			n++
		}
		if err := s.use(ctx, keys[0].db); err != nil {
			return nil, err
		}
		some, err := f(ctx, keys[:n])
		if err != nil {
			return nil, err
		}
		left = append(left, some...)
		keys = keys[n:]
		if err := s.rest(ctx, s.pacer.rest(time.Since(began), 1)); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (s *session) learnTypes(ctx context.Context, keys []bigKey) ([]bigKey, error) {
	types, err := s.typesOf(ctx, bigNames(keys))
	for i := range types {
		keys[i].keyType = types[i]
	}
	return slices.DeleteFunc(keys, func(k bigKey) bool { return k.keyType == "none" }), err
}

// learnSizes asks for the memory, and for the length of those that may hold many
// elements.
func (s *session) learnSizes(ctx context.Context, keys []bigKey) ([]bigKey, error) {
	bytes, err := s.memoryOf(ctx, bigNames(keys))
	if bytes == nil {
		return nil, err
	}
	var long []source.TypedName
	var at []int
	for i := range keys {
		keys[i].bytes = max(0, bytes[i])
		if keys[i].bytes >= smallestElement*s.big.Elements && source.HasLength(keys[i].keyType) {
			long, at = append(long, source.TypedName{Name: keys[i].name, Type: keys[i].keyType}), append(at, i)
		} else {
			keys[i].length = 0
		}
	}
	if len(long) == 0 {
		return keys, nil
	}
	if err := s.spareAges(ctx); err != nil {
		return nil, err
	}
	lengths, err := s.lengthsOf(ctx, long) // none where they are refused: the last ones stand
	for i, length := range lengths {
		keys[at[i]].length = max(0, length)
	}
	return keys, err
}

func bigNames(keys []bigKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// What a sweep asks about single keys beside their TTL: type, length and memory,
// and what a refusal means for the rest of the sweep.

package sweep

import (
	"context"
	"slices"

	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// groupsOf answers the number of each name's group. Types are asked for where the
// group depends on them.
func (s *session) groupsOf(ctx context.Context, names []string) ([]int, error) {
	numbers := make([]int, len(names))
	var typed []string
	var at []int
	for i, name := range names {
		number, wantsType := s.classifier.Find(name)
		if numbers[i] = number; wantsType {
			typed, at = append(typed, name), append(at, i)
		}
	}
	if len(typed) == 0 {
		return numbers, nil
	}
	types, err := s.typesOf(ctx, typed)
	for i, keyType := range types {
		numbers[at[i]] = s.classifier.Group(typed[i], keyType)
	}
	return numbers, err
}

// typesOf answers the type of each key, "none" for one that is gone; all are
// empty where the server does not tell.
func (s *session) typesOf(ctx context.Context, names []string) ([]string, error) {
	untold := make([]string, len(names))
	if s.denied["type"] {
		return untold, nil
	}
	types, err := s.conn.Types(ctx, names)
	if ok, err := s.permits("type", err); !ok {
		return untold, err
	}
	return types, nil
}

// lengthsOf answers the number of elements of each collection; none where the
// server does not tell.
func (s *session) lengthsOf(ctx context.Context, keys []source.TypedName) ([]int64, error) {
	if len(keys) == 0 || s.denied["length"] {
		return nil, nil
	}
	lengths, err := s.conn.Lengths(ctx, keys)
	if ok, err := s.permits("length", err); !ok {
		return nil, err
	}
	return lengths, nil
}

// memoryOf answers the bytes of each key, TTLGone for one that is gone; none
// where the server keeps those of some key from us.
func (s *session) memoryOf(ctx context.Context, names []string) ([]int64, error) {
	if len(names) == 0 || s.denied["memory_usage"] {
		return nil, nil
	}
	bytes, err := s.conn.Memory(ctx, names)
	if ok, err := s.permits("memory_usage", err); !ok {
		return nil, err
	}
	if slices.Contains(bytes, source.TTLRefused) {
		s.capabilities.Refuse("memory_usage")
		s.denied["memory_usage"] = true
		return nil, nil
	}
	return bytes, nil
}

// permits learns from an answer whether the server permits what was asked. A
// refusal holds for the rest of the sweep and is no error.
func (s *session) permits(capability string, err error) (bool, error) {
	if s.capabilities.Note(capability, err) == nil {
		return true, nil
	}
	if source.Denies(err) {
		s.denied[capability] = true
		return false, nil
	}
	return false, err
}

func namesOf(keys []tally.Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

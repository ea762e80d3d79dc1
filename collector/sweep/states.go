// Who is locked out: the state of a group's zombies, read only where a rule
// gives the limit it is compared with.

package sweep

import (
	"context"
	"fmt"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

const (
	mostStates   = 1000 // zombies a group and sweep whose state is read
	longestState = 4096 // bytes by MEMORY USAGE of a string that is read: a number needs far less
)

// readStates compares the zombies of groups with a limit with it.
func (s *session) readStates(ctx context.Context, databases []*tally.Database) error {
	for _, d := range databases {
		for _, t := range d.Groups {
			if t.Definition == nil || t.Definition.Limit == 0 || len(t.Confirmed) == 0 {
				continue
			}
			if err := s.spareAges(ctx); err != nil {
				return err
			}
			keys := s.pick(t.Confirmed, mostStates)
			for len(keys) > 0 {
				n := min(len(keys), s.target.Sweep.ScanCount)
				if err := s.judge(ctx, t, keys[:n]); err != nil {
					return err
				}
				keys = keys[n:]
			}
		}
	}
	return nil
}

// spareAges asks the server not to count our reads as a use of the key, once a
// sweep and where the server can: GET and the lengths do count.
func (s *session) spareAges(ctx context.Context) error {
	if s.untouching || !s.info.KnowsNoTouch() {
		return nil
	}
	s.untouching = true
	if err := s.capabilities.Note("no_touch", s.conn.NoTouch(ctx)); err != nil && !source.Denies(err) {
		return fmt.Errorf("CLIENT NO-TOUCH: %w", err)
	}
	return nil
}

// judge reads the states of one batch. What the server refuses to tell is not
// judged, and neither are other types.
func (s *session) judge(ctx context.Context, t *tally.Group, keys []tally.Key) error {
	began := time.Now()
	if err := s.use(ctx, keys[0].DB); err != nil {
		return err
	}
	types, err := s.typesOf(ctx, namesOf(keys))
	if err != nil {
		return err
	}
	var short []string
	var counted []source.TypedName
	for i, k := range keys {
		switch types[i] {
		case "none":
			continue
		case "string":
			short = append(short, k.Name)
		case "list", "zset":
			counted = append(counted, source.TypedName{Name: k.Name, Type: types[i]})
		}
		t.States.Tried++
	}
	if err := s.judgeStrings(ctx, t, short); err != nil {
		return err
	}
	if err := s.judgeLengths(ctx, t, counted); err != nil {
		return err
	}
	return s.rest(ctx, s.pacer.rest(time.Since(began), 4))
}

// judgeStrings reads the strings that are short enough to be a number.
func (s *session) judgeStrings(ctx context.Context, t *tally.Group, names []string) error {
	if s.denied["get"] {
		return nil
	}
	bytes, err := s.memoryOf(ctx, names)
	if bytes == nil {
		return err
	}
	short := names[:0]
	for i, name := range names {
		if bytes[i] >= 0 && bytes[i] <= longestState+int64(len(name)) {
			short = append(short, name)
		}
	}
	if len(short) == 0 {
		return nil
	}
	values, err := s.conn.Strings(ctx, short)
	if ok, err := s.permits("get", err); !ok {
		return err
	}
	for _, v := range values {
		if state, ok := v.Number(); ok {
			t.Compare(state)
		}
	}
	return nil
}

func (s *session) judgeLengths(ctx context.Context, t *tally.Group, keys []source.TypedName) error {
	lengths, err := s.lengthsOf(ctx, keys)
	if err != nil {
		return err
	}
	for _, length := range lengths {
		if length >= 0 {
			t.Compare(float64(length))
		}
	}
	return nil
}

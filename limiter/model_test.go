// This file owns the model: what a call answers and leaves, in plain Go. It
// shares no code with the scripts, and knows the time.

package limiter

import (
	"time"
)

// modelKey is a key as a server holds it. when is the ms at which it expires, 0
// for a key without TTL.
type modelKey struct {
	kind, value string // kind is "none", "string" or another type
	when        int64
}

var noKey = modelKey{kind: "none"}

// modelState is what one policy makes of a key's value.
type modelState interface {
	// read says whether the value is readable, and whether it is impossible.
	read(value string) (readable, impossible bool)
	clear()
	left() int64
	wait(cost int64) int64 // ms
	reset() int64          // ms
	add(n int64) modelKey
	mark() int64
	holds(mark int64) bool
	give(n, mark int64) modelKey
}

// modelWindow is one window of a subject at one moment.
type modelWindow struct {
	window
	now         int64 // microseconds
	key         modelKey
	fresh, sick bool
	state       modelState
}

func (w *modelWindow) rest() int64 {
	if w.fresh {
		return 0
	}
	return w.key.when - w.now/1000
}

// model is a subject's keys, one for each window.
type model struct {
	now     int64 // microseconds
	replace bool
	windows []window
	keys    []modelKey
}

func (m *model) expired(k modelKey) bool { return k.when != 0 && k.when <= m.now/1000 }

func (m *model) open(i int) (*modelWindow, error) {
	k := m.keys[i]
	w := &modelWindow{window: m.windows[i], now: m.now, key: k, fresh: true}
	switch w.policy {
	case "fixed":
		w.state = &modelFixed{w: w}
	case "sliding":
		w.state = &modelSliding{w: w}
	default:
		w.state = &modelBucket{w: w}
	}
	w.state.clear()
	if k.kind == "none" || m.expired(k) {
		return w, nil
	}
	if k.kind != "string" {
		w.sick = true
		if !m.replace {
			return nil, ErrWrongType
		}
		return w, nil
	}
	readable, impossible := w.state.read(k.value)
	if !readable && !m.replace {
		return nil, ErrUnreadable
	}
	w.sick = !readable || impossible || k.when == 0 || k.when-m.now/1000 > w.ttl.Milliseconds()
	if w.fresh = w.sick; w.sick {
		w.state.clear()
	}
	return w, nil
}

func (m *model) openAll() (windows []*modelWindow, at []int, failure error) {
	for i := range m.windows {
		w, err := m.open(i)
		if err != nil {
			failure = err // the last one counts
			continue
		}
		windows, at = append(windows, w), append(at, i)
	}
	return windows, at, failure
}

// decide is AllowN, Peek or Reserve.
func (m *model) decide(cost int64, peek bool) (result Result, marks []int64, err error) {
	windows, at, err := m.openAll()
	result.Allowed = err == nil
	for _, w := range windows {
		result.Allowed = result.Allowed && cost <= w.state.left()
	}
	for i, w := range windows {
		if !result.Allowed {
			result.RetryAfter = max(result.RetryAfter, time.Duration(w.state.wait(cost))*time.Millisecond)
		}
		if !peek {
			result.Healed = result.Healed || w.sick
			switch {
			case result.Allowed:
				m.keys[at[i]] = w.state.add(cost)
				w.key, w.fresh = m.keys[at[i]], false
			case w.sick:
				m.keys[at[i]] = noKey
			}
		}
		if left := w.state.left(); i == 0 || left < result.Remaining {
			result.Limit, result.Remaining = w.limit, left
		}
		result.ResetAfter = max(result.ResetAfter, time.Duration(w.state.reset())*time.Millisecond)
		marks = append(marks, w.state.mark())
	}
	if err != nil {
		return Result{}, nil, err
	}
	return result, marks, nil
}

// settle is Commit or, with nothing charged, Cancel.
func (m *model) settle(reserved, charged int64, marks []int64) error {
	windows, at, err := m.openAll()
	for i, w := range windows {
		if w.sick {
			m.keys[at[i]], w.key = noKey, noKey
		}
	}
	if err != nil {
		return err
	}
	for i, w := range windows {
		switch {
		case marks[i] > 0 && w.state.holds(marks[i]):
			if charged < reserved {
				m.keys[i] = w.state.give(reserved-charged, marks[i])
			}
		case charged > 0:
			m.keys[i] = w.state.add(charged)
		}
	}
	return nil
}

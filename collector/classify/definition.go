// What is known of a group beforehand, whoever said it, and what follows for one
// key: its longest TTL, and whether it is a leak.

package classify

import (
	"slices"
	"strconv"
	"time"
)

// Sources of a group.
const (
	SourceRule       = "rule"
	SourcePreset     = "preset"
	SourceDiscovered = "discovered"
	SourceOther      = "other"
)

// OtherGroup takes the keys that no other group does.
const OtherGroup = "(other)"

// Definition is what is known of a group before a key of it is met: a rule or a
// preset.
type Definition struct {
	Name        string
	Source      string
	Library     string // of a preset: the project whose keys they are
	TTL         Expectation
	maxTTL      time.Duration
	stated      bool // the max TTL is more than the documented default
	window      nameWindow
	windowFits  float64 // max TTL as a multiple of the window in the name
	index       nameIndex
	Lockout     bool
	Limit       int64 // 0: none
	Counts      Direction
	UniqueNames bool
}

func (r *Rule) definition() *Definition {
	bound, stated := r.maxTTL()
	counts := r.Counts
	if counts == "" {
		counts = Up
	}
	return &Definition{
		Name: r.Name, Source: SourceRule, TTL: r.expectation(), maxTTL: bound, stated: stated,
		Lockout: r.locksOut(), Limit: r.Limit, Counts: counts, UniqueNames: r.UniqueNames,
	}
}

// Bound is the TTL above which a key is excessive, and whether it is more than
// the default. A window in the key's name says it better than anything.
func (d *Definition) Bound(name string) (bound time.Duration, stated bool) {
	if d.window != "" {
		if window, ok := d.window.in(name); ok {
			return time.Duration(min(float64(window)*d.windowFits, 1<<62)), true
		}
	}
	return d.maxTTL, d.stated
}

// LeakAfter is how old the time in a leak's name must be where nothing is stated.
const LeakAfter = 24 * time.Hour

// Leaks says whether the key of a name that holds a time or a window index is
// older than the group's max TTL, and whether it holds one at all.
func (d *Definition) Leaks(name string, now time.Time, fixed bool) (leaked, timed bool) {
	bound, stated := d.Bound(name)
	if !stated {
		bound = LeakAfter
	}
	if at, found := TimeIn(name); found && !fixed {
		return !now.IsZero() && now.Sub(at) > bound, true
	}
	index, found := d.index.in(name)
	if !found {
		return false, false
	}
	window, _ := d.window.in(name)
	return !now.IsZero() && !mayBeCurrent(index, window, now, bound), true
}

// nameIndex says where a name holds the number of its window: unix time divided
// by the window. Empty: nowhere.
type nameIndex string

const (
	indexFirst nameIndex = "first" // the name's first run of digits
	indexLast  nameIndex = "last"  // its last
)

// in is the index that the name holds. Only whole words of digits count.
func (i nameIndex) in(name string) (index int64, found bool) {
	if i == "" {
		return 0, false
	}
	for at := 0; at < len(name); at++ {
		if !isWordByte(name[at]) {
			continue
		}
		start, digits := at, true
		for ; at < len(name) && isWordByte(name[at]); at++ {
			digits = digits && name[at] <= '9'
		}
		if !digits {
			continue
		}
		n, err := strconv.ParseInt(name[start:at], 10, 64)
		if err != nil {
			continue
		}
		index, found = n, true
		if i == indexFirst {
			return index, true
		}
	}
	return index, found
}

// commonWindows are the lengths that limiters' windows usually have.
var commonWindows = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

// mayBeCurrent says whether the index is that of a window which ended at most
// bound ago. The window's length is seldom known: then some common one must fit.
func mayBeCurrent(index int64, window time.Duration, now time.Time, bound time.Duration) bool {
	fits := func(window time.Duration) bool {
		current := now.UnixNano() / int64(window)
		oldest := now.Add(-bound).UnixNano() / int64(window)
		return index >= oldest && index <= current+1
	}
	if window > 0 {
		return fits(window)
	}
	return slices.ContainsFunc(commonWindows, fits)
}

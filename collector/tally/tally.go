// What a sweep counted, group by group, before anything is scaled.

package tally

import (
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
)

// BandNames are the TTL bands, each up to and including its bound.
var BandNames = [...]string{"none", "1m", "10m", "1h", "1d", "7d", "30d", "over"}

var bandBounds = [...]time.Duration{
	time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

// bandOf is the index in BandNames of a TTL in milliseconds.
func bandOf(ttl int64) int {
	for i, bound := range bandBounds {
		if ttl <= bound.Milliseconds() {
			return i + 1
		}
	}
	return len(BandNames) - 1
}

// Group counts the keys of one group in one database.
type Group struct {
	Name       string // of the group
	Source     string
	Definition *classify.Definition // nil: keys that nothing describes
	With       int64
	Without    int64
	Bands      [len(BandNames)]int64 // of the keys with a TTL
	Excessive  int64
	Kinds      [classify.KindNone][2]int64 // names made fresh, by kind: of keys with a TTL, and without
	refused    int64                       // keys the ACL keeps from us

	Suspects   *Draw // keys without TTL, to be looked at again; nil where none is expected
	MemWith    *Draw // keys whose size is asked; nil where sizes are off
	MemWithout *Draw

	Times []time.Time // in the names of the first keys with a TTL; nil where nobody asks

	Looked    int64 // suspects that were looked at again
	Gone      int64 // of those, keys that were there no more: others may have come in their place
	Confirmed []Key // suspects still without TTL at their last look
	States    States

	Size Sizes
	Big  BigKeys
	Tags TagSums // of a sample whose pages keep keys with a hash tag together
}

// States says what was read of a group's zombies.
type States struct {
	Tried     int64
	Judged    int64 // those whose state is of a kind that can be compared
	LockedOut int64 // of those, at or beyond the limit
}

// BigKeys are the big keys of a group that are known, never scaled.
type BigKeys struct {
	Keys         int64
	LargestBytes int64 // 0: none is known
}

// Examined is how many keys of the group were met and could be read.
func (t *Group) Examined() int64 { return t.With + t.Without }

// Unreadable says that none of the group's keys could be read: 0 would be a lie.
func (t *Group) Unreadable() bool { return t.refused > 0 && t.Examined() == 0 }

// Merge adds the counts of keys that nothing describes.
func (t *Group) Merge(from *Group) {
	t.With += from.With
	t.Without += from.Without
	t.Excessive += from.Excessive
	t.Tags.merge(from.Tags)
	for i, n := range from.Bands {
		t.Bands[i] += n
	}
	for i, n := range from.Kinds {
		t.Kinds[i][0] += n[0]
		t.Kinds[i][1] += n[1]
	}
}

// ExpectsTTL says whether the group can have zombies.
func (t *Group) ExpectsTTL() bool {
	return t.Definition != nil && t.Definition.TTL == classify.Expected
}

// mostTimes is how many names show whether those of a group hold times.
const mostTimes = 64

// noteTime remembers the time in the name of a key with a TTL, in groups where it
// decides whom a zombie locks out.
func (t *Group) noteTime(name string) {
	if t.Definition == nil || !t.Definition.Lockout || len(t.Times) == mostTimes {
		return
	}
	if at, found := classify.TimeIn(name); found {
		t.Times = append(t.Times, at)
	}
}

// judgesTTL says whether a long TTL can be excessive.
func (t *Group) judgesTTL() bool {
	return t.Definition == nil || t.Definition.TTL != classify.Persistent
}

// MaxTTL is the bound of the TTL of a key of the group.
func (t *Group) MaxTTL(name string) (bound time.Duration, stated bool) {
	if t.Definition == nil {
		return classify.DefaultMaxTTL, false
	}
	return t.Definition.Bound(name)
}

// Compare says whether a state keeps its caller out.
func (t *Group) Compare(state float64) {
	t.States.Judged++
	out := state >= float64(t.Definition.Limit)
	if t.Definition.Counts == classify.Down {
		out = state <= 0
	}
	if out {
		t.States.LockedOut++
	}
}

// Database counts one database of one node.
type Database struct {
	DB     int
	Groups []*Group // by the classifier's number; then presets that were met and groups that were discovered
	Tree   *Tree    // keys that no rule takes, by shape; nil: not asked for
	Loose  *Draw    // names of such keys; nil where sizes are off

	Presets map[int]*Group // those that were met, by the classifier's number

	Seen int64 // keys met, over all groups

	limited bool    // of the suspects only some are kept
	Walked  bool    // every key was met
	Share   float64 // of SCAN's order covered
	Refused int64   // keys the ACL keeps from us

	Sized         bool // the server tells the sizes
	Before, After source.DBSize
}

// LookAnew forgets what a closer look has found.
func (d *Database) LookAnew() {
	for _, t := range d.Groups {
		t.Looked, t.Gone, t.Confirmed, t.States, t.Size = 0, 0, nil, States{}, Sizes{}
	}
}

// Unmet says that keys came to a database after it was passed over as empty.
func (d *Database) Unmet() bool { return d.Met() == 0 && d.Before.Keys == 0 && d.After.Keys > 0 }

// Sums adds up the groups, those that were discovered included.
func (d *Database) Sums() (with, without int64) {
	for _, t := range d.Groups {
		with += t.With
		without += t.Without
	}
	return with, without
}

// Met is how many keys the pages showed that were still there.
func (d *Database) Met() float64 {
	return float64(d.Seen + d.Refused)
}

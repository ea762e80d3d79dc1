// What a sweep counted, group by group, before anything is scaled.

package collector

import "time"

// bandNames are the TTL bands, each up to and including its bound.
var bandNames = [...]string{"none", "1m", "10m", "1h", "1d", "7d", "30d", "over"}

var bandBounds = [...]time.Duration{
	time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

// bandOf is the index in bandNames of a TTL in milliseconds.
func bandOf(ttl int64) int {
	for i, bound := range bandBounds {
		if ttl <= bound.Milliseconds() {
			return i + 1
		}
	}
	return len(bandNames) - 1
}

// tally counts the keys of one group in one database.
type tally struct {
	name       string // of the group
	source     string
	definition *definition // nil: keys that nothing describes
	with       int64
	without    int64
	bands      [len(bandNames)]int64 // of the keys with a TTL
	excessive  int64
	kinds      [kindNone][2]int64 // names made fresh, by kind: of keys with a TTL, and without
	refused    int64              // keys the ACL keeps from us

	suspects   *draw // keys without TTL, to be looked at again; nil where none is expected
	memWith    *draw // keys whose size is asked; nil where sizes are off
	memWithout *draw

	times []time.Time // in the names of the first keys with a TTL; nil where nobody asks

	looked    int64 // suspects that were looked at again
	gone      int64 // of those, keys that were there no more: others may have come in their place
	confirmed []key // suspects still without TTL at their last look
	states    states

	size sizes
	big  BigKeys
	tags tagSums // of a sample whose pages keep keys with a hash tag together
}

// states says what was read of a group's zombies.
type states struct {
	tried     int64
	judged    int64 // those whose state is of a kind that can be compared
	lockedOut int64 // of those, at or beyond the limit
}

// BigKeys are the big keys of a group that are known, never scaled.
type BigKeys struct {
	Keys         int64
	LargestBytes int64 // 0: none is known
}

func (t *tally) examined() int64 { return t.with + t.without }

// unreadable says that none of the group's keys could be read: 0 would be a lie.
func (t *tally) unreadable() bool { return t.refused > 0 && t.examined() == 0 }

// merge adds the counts of keys that nothing describes.
func (t *tally) merge(from *tally) {
	t.with += from.with
	t.without += from.without
	t.excessive += from.excessive
	t.tags.merge(from.tags)
	for i, n := range from.bands {
		t.bands[i] += n
	}
	for i, n := range from.kinds {
		t.kinds[i][0] += n[0]
		t.kinds[i][1] += n[1]
	}
}

// expectsTTL says whether the group can have zombies.
func (t *tally) expectsTTL() bool { return t.definition != nil && t.definition.ttl == Expected }

// mostTimes is how many names show whether those of a group hold times.
const mostTimes = 64

// noteTime remembers the time in the name of a key with a TTL, in groups where it
// decides whom a zombie locks out.
func (t *tally) noteTime(name string) {
	if t.definition == nil || !t.definition.lockout || len(t.times) == mostTimes {
		return
	}
	if at, found := nameTime(name); found {
		t.times = append(t.times, at)
	}
}

// judgesTTL says whether a long TTL can be excessive.
func (t *tally) judgesTTL() bool { return t.definition == nil || t.definition.ttl != Persistent }

// maxTTL is the bound of the TTL of a key of the group.
func (t *tally) maxTTL(name string) (bound time.Duration, stated bool) {
	if t.definition == nil {
		return defaultMaxTTL, false
	}
	return t.definition.bound(name)
}

// compare says whether a state keeps its caller out.
func (t *tally) compare(state float64) {
	t.states.judged++
	out := state >= float64(t.definition.limit)
	if t.definition.counts == Down {
		out = state <= 0
	}
	if out {
		t.states.lockedOut++
	}
}

// dbTally counts one database of one node.
type dbTally struct {
	db     int
	groups []*tally     // by the classifier's number; then presets that were met and groups that were discovered
	tree   *segmentTree // keys that no rule takes, by shape; nil: not asked for
	loose  *draw        // names of such keys; nil where sizes are off

	presets map[int]*tally // those that were met, by the classifier's number

	seen int64 // keys met, over all groups

	limited bool    // of the suspects only some are kept
	walked  bool    // every key was met
	share   float64 // of SCAN's order covered
	refused int64   // keys the ACL keeps from us

	sized         bool // the server tells the sizes
	before, after DBSize
}

// lookAnew forgets what a closer look has found.
func (d *dbTally) lookAnew() {
	for _, t := range d.groups {
		t.looked, t.gone, t.confirmed, t.states, t.size = 0, 0, nil, states{}, sizes{}
	}
}

// unmet says that keys came to a database after it was passed over as empty.
func (d *dbTally) unmet() bool { return d.met() == 0 && d.before.Keys == 0 && d.after.Keys > 0 }

// sums adds up the groups, those that were discovered included.
func (d *dbTally) sums() (with, without int64) {
	for _, t := range d.groups {
		with += t.with
		without += t.without
	}
	return with, without
}

// met is how many keys the pages showed that were still there.
func (d *dbTally) met() float64 {
	return float64(d.seen + d.refused)
}

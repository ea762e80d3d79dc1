// What a sweep counted, group by group, before anything is scaled.

package collector

import "time"

// The answers of PTTL that are no time, and our own for a refusal.
const (
	ttlNone    = -1 // the key has no TTL
	ttlGone    = -2 // there is no such key (any more)
	ttlRefused = -3 // the server's ACL keeps the key from us
)

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

	reading reading // what all this comes to, scaled
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

// meeting is one key as a page showed it.
type meeting struct {
	name  string
	ttl   int64 // milliseconds, or a ttl constant
	group int   // its number
	at    time.Time
}

// counting puts keys into tallies.
type counting struct {
	classifier *classifier
	suspects   *nameStore
	memory     *nameStore                // nil: sizes are off
	loose      *nameStore                // names of keys that nothing describes; nil: sizes are off
	big        *draw                     // keys that may be big; nil: nobody looks for them
	candidates *nameStore                // that draw's
	tree       func(db int) *segmentTree // nil: no discovery
}

// newDBTally starts the count of a database. Where every key is met, every
// suspect is kept as long as the store has room; of a sample's, a few will do.
func (c *counting) newDBTally(db int, walk bool) *dbTally {
	d := &dbTally{db: db, limited: !walk, presets: map[int]*tally{}}
	for number := range c.classifier.groups() {
		d.groups = append(d.groups, c.newTally(d, number))
	}
	if c.tree != nil {
		d.tree = c.tree(db)
		if c.loose != nil {
			d.loose = c.loose.newDraw(true)
		}
	}
	return d
}

// newTally starts the count of a group.
func (c *counting) newTally(d *dbTally, number int) *tally {
	t := &tally{name: OtherGroup, source: SourceOther, definition: c.classifier.definitions[number]}
	if t.definition != nil {
		t.name, t.source = t.definition.name, t.definition.source
	}
	if t.expectsTTL() {
		t.suspects = c.suspects.newDraw(d.limited)
	}
	if c.memory != nil {
		t.memWith, t.memWithout = c.memory.newDraw(true), c.memory.newDraw(true)
	}
	return t
}

// tally is that of a group, by its number. A preset has one from its first key on.
func (c *counting) tally(d *dbTally, number int) *tally {
	if number < c.classifier.groups() {
		return d.groups[number]
	}
	t := d.presets[number]
	if t == nil {
		t = c.newTally(d, number)
		d.presets[number] = t
		d.groups = append(d.groups, t)
	}
	return t
}

// add counts one key, and answers whose it is. A key that is gone is no key at
// all; nil: it was not counted.
func (c *counting) add(d *dbTally, m meeting) *tally {
	if m.ttl == ttlGone {
		return nil
	}
	t := c.tally(d, m.group)
	if m.ttl == ttlRefused {
		d.refused++
		t.refused++
		return nil
	}
	d.seen++
	k := key{name: m.name, db: d.db, tally: t, seen: m.at, without: m.ttl == ttlNone}
	if t.definition == nil && d.tree != nil {
		t = &d.tree.at(m.name).tally
		if d.loose != nil {
			c.loose.offer(d.loose, k)
		}
	}
	t.add(m)
	if c.big != nil {
		c.candidates.offer(c.big, k)
	}
	switch {
	case m.ttl == ttlNone && t.suspects != nil:
		c.suspects.offer(t.suspects, k)
	case m.ttl == ttlNone && t.memWithout != nil:
		c.memory.offer(t.memWithout, k)
	case m.ttl != ttlNone && t.memWith != nil:
		c.memory.offer(t.memWith, k)
	}
	return t
}

func (t *tally) add(m meeting) {
	without := 0
	if m.ttl == ttlNone {
		t.without++
		without = 1
	} else {
		t.with++
		t.bands[bandOf(m.ttl)]++
		t.noteTime(m.name)
		if t.judgesTTL() {
			if bound, _ := t.maxTTL(m.name); m.ttl > bound.Milliseconds() {
				t.excessive++
			}
		}
	}
	if kind := nameKindOf(m.name); kind != kindNone {
		t.kinds[kind][without]++
	}
}

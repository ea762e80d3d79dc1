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
	name      string // of the group
	source    string
	rule      *Rule // nil: keys that no rule takes
	with      int64
	without   int64
	bands     [len(bandNames)]int64 // of the keys with a TTL
	excessive int64
	refused   int64 // keys the ACL keeps from us

	suspects   *draw // keys without TTL, to be looked at again; nil where none is expected
	memWith    *draw // keys whose size is asked; nil where sizes are off
	memWithout *draw

	looked    int64 // suspects that were looked at again
	confirmed []key // suspects still without TTL at their last look

	size sizes
}

func (t *tally) examined() int64 { return t.with + t.without }

// unreadable says that none of the group's keys could be read: 0 would be a lie.
func (t *tally) unreadable() bool { return t.refused > 0 && t.examined() == 0 }

// merge adds the counts of keys that no rule takes.
func (t *tally) merge(from *tally) {
	t.with += from.with
	t.without += from.without
	t.excessive += from.excessive
	for i, n := range from.bands {
		t.bands[i] += n
	}
}

// expectsTTL says whether the group can have zombies.
func (t *tally) expectsTTL() bool { return t.rule != nil && t.rule.expectation() == Expected }

// judgesTTL says whether a long TTL can be excessive.
func (t *tally) judgesTTL() bool { return t.rule == nil || t.rule.expectation() != Persistent }

func (t *tally) maxTTL() (bound time.Duration, stated bool) {
	if t.rule == nil {
		return defaultMaxTTL, false
	}
	return t.rule.maxTTL()
}

// dbTally counts one database of one node.
type dbTally struct {
	db     int
	groups []*tally     // by the classifier's index; then those that were discovered
	tree   *segmentTree // keys that no rule takes, by shape; nil: not asked for
	loose  *draw        // names of such keys; nil where sizes are off

	seen int64 // keys met, over all groups

	walked  bool    // every key was met
	share   float64 // of SCAN's order covered
	refused int64   // keys the ACL keeps from us

	sized         bool // the server tells the sizes
	before, after DBSize
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
	name string
	ttl  int64 // milliseconds, or a ttl constant
	at   time.Time
}

// counting puts keys into tallies.
type counting struct {
	classifier *classifier
	suspects   *nameStore
	memory     *nameStore                // nil: sizes are off
	loose      *nameStore                // names of keys that no rule takes; nil: sizes are off
	tree       func(db int) *segmentTree // nil: no discovery
}

// newDBTally starts the count of a database. Where every key is met, every
// suspect is kept as long as the store has room; of a sample's, a few will do.
func (c *counting) newDBTally(db int, walk bool) *dbTally {
	d := &dbTally{db: db}
	for i := range c.classifier.groups() {
		t := &tally{name: OtherGroup, source: SourceOther}
		if t.rule = c.classifier.rule(i); t.rule != nil {
			t.name, t.source = t.rule.Name, SourceRule
		}
		if t.expectsTTL() {
			t.suspects = c.suspects.newDraw(!walk)
		}
		if c.memory != nil {
			t.memWith, t.memWithout = c.memory.newDraw(true), c.memory.newDraw(true)
		}
		d.groups = append(d.groups, t)
	}
	if c.tree != nil {
		d.tree = c.tree(db)
		if c.loose != nil {
			d.loose = c.loose.newDraw(true)
		}
	}
	return d
}

// add counts one key. A key that is gone is no key at all.
func (c *counting) add(d *dbTally, m meeting) {
	switch m.ttl {
	case ttlGone:
		return
	case ttlRefused:
		d.refused++
		d.groups[c.classifier.group(m.name)].refused++
		return
	}
	d.seen++
	t := d.groups[c.classifier.group(m.name)]
	k := key{name: m.name, db: d.db, tally: t, seen: m.at, without: m.ttl == ttlNone}
	if t.rule == nil && d.tree != nil {
		t = &d.tree.at(m.name).tally
		if d.loose != nil {
			c.loose.offer(d.loose, k)
		}
	}
	if m.ttl == ttlNone {
		t.without++
		if t.suspects != nil {
			c.suspects.offer(t.suspects, k)
		} else if t.memWithout != nil {
			c.memory.offer(t.memWithout, k)
		}
		return
	}
	t.with++
	t.bands[bandOf(m.ttl)]++
	if bound, _ := t.maxTTL(); t.judgesTTL() && m.ttl > bound.Milliseconds() {
		t.excessive++
	}
	if t.memWith != nil {
		c.memory.offer(t.memWith, k)
	}
}

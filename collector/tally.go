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
	rule      *Rule // nil: keys that no rule takes
	with      int64
	without   int64
	bands     [len(bandNames)]int64 // of the keys with a TTL
	excessive int64

	suspects   *draw // keys without TTL, to be looked at again; nil where none is expected
	memWith    *draw // keys whose size is asked; nil where sizes are off
	memWithout *draw

	looked    int64 // suspects that were looked at again
	confirmed []key // suspects still without TTL at their last look

	size sizes
}

func (t *tally) examined() int64 { return t.with + t.without }

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
	groups []*tally // by the classifier's index

	walked  bool    // every key was met
	share   float64 // of SCAN's order covered
	refused int64   // keys the ACL keeps from us

	sized         bool // the server tells the sizes
	before, after DBSize
}

func (d *dbTally) sums() (with, without int64) {
	for _, t := range d.groups {
		with += t.with
		without += t.without
	}
	return with, without
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
	memory     *nameStore // nil: sizes are off
}

// newDBTally starts the count of a database. Where every key is met, every
// suspect is kept as long as the store has room; of a sample's, a few will do.
func (c *counting) newDBTally(db int, walk bool) *dbTally {
	d := &dbTally{db: db}
	for i := range c.classifier.groups() {
		t := &tally{rule: c.classifier.rule(i)}
		if t.expectsTTL() {
			t.suspects = c.suspects.newDraw(!walk)
		}
		if c.memory != nil {
			t.memWith, t.memWithout = c.memory.newDraw(true), c.memory.newDraw(true)
		}
		d.groups = append(d.groups, t)
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
		return
	}
	t := d.groups[c.classifier.group(m.name)]
	k := key{name: m.name, db: d.db, tally: t, seen: m.at}
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

// How the keys that a page shows get into the tallies of their groups.

package collector

import "time"

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

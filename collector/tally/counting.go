// How the keys that a page shows are counted in their groups.

package tally

import (
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
)

// Meeting is one key as a page showed it.
type Meeting struct {
	Name  string
	TTL   int64 // milliseconds, or a TTL constant
	Group int   // its number
	At    time.Time
}

// Counting counts keys in their groups.
type Counting struct {
	Classifier *classify.Classifier
	Suspects   *Store
	Memory     *Store             // nil: sizes are off
	Loose      *Store             // names of keys that nothing describes; nil: sizes are off
	Big        *Draw              // keys that may be big; nil: nobody looks for them
	Candidates *Store             // that draw's
	Tree       func(db int) *Tree // nil: no discovery
}

// NewDatabase starts the count of a database. Where every key is met, every
// suspect is kept as long as the store has room; of a sample's, a few will do.
func (c *Counting) NewDatabase(db int, walk bool) *Database {
	d := &Database{DB: db, limited: !walk, Presets: map[int]*Group{}}
	for number := range c.Classifier.Groups() {
		d.Groups = append(d.Groups, c.newGroup(d, number))
	}
	if c.Tree != nil {
		d.Tree = c.Tree(db)
		if c.Loose != nil {
			d.Loose = c.Loose.NewDraw(true)
		}
	}
	return d
}

// newGroup starts the count of a group.
func (c *Counting) newGroup(d *Database, number int) *Group {
	t := &Group{Name: classify.OtherGroup, Source: classify.SourceOther, Definition: c.Classifier.Definitions[number]}
	if t.Definition != nil {
		t.Name, t.Source = t.Definition.Name, t.Definition.Source
	}
	if t.ExpectsTTL() {
		t.Suspects = c.Suspects.NewDraw(d.limited)
	}
	if c.Memory != nil {
		t.MemWith, t.MemWithout = c.Memory.NewDraw(true), c.Memory.NewDraw(true)
	}
	return t
}

// Group is that of a group, by its number. A preset has one from its first key on.
func (c *Counting) Group(d *Database, number int) *Group {
	if number < c.Classifier.Groups() {
		return d.Groups[number]
	}
	t := d.Presets[number]
	if t == nil {
		t = c.newGroup(d, number)
		d.Presets[number] = t
		d.Groups = append(d.Groups, t)
	}
	return t
}

// Add counts one key, and answers whose it is. A key that is gone is no key at
// all; nil: it was not counted.
func (c *Counting) Add(d *Database, m Meeting) *Group {
	if m.TTL == source.TTLGone {
		return nil
	}
	t := c.Group(d, m.Group)
	if m.TTL == source.TTLRefused {
		d.Refused++
		t.refused++
		return nil
	}
	d.Seen++
	k := Key{Name: m.Name, DB: d.DB, Group: t, Seen: m.At, Without: m.TTL == source.TTLNone}
	if t.Definition == nil && d.Tree != nil {
		t = &d.Tree.at(m.Name).group
		if d.Loose != nil {
			c.Loose.offer(d.Loose, k)
		}
	}
	t.add(m)
	if c.Big != nil {
		c.Candidates.offer(c.Big, k)
	}
	switch {
	case m.TTL == source.TTLNone && t.Suspects != nil:
		c.Suspects.offer(t.Suspects, k)
	case m.TTL == source.TTLNone && t.MemWithout != nil:
		c.Memory.offer(t.MemWithout, k)
	case m.TTL != source.TTLNone && t.MemWith != nil:
		c.Memory.offer(t.MemWith, k)
	}
	return t
}

func (t *Group) add(m Meeting) {
	without := 0
	if m.TTL == source.TTLNone {
		t.Without++
		without = 1
	} else {
		t.With++
		t.Bands[bandOf(m.TTL)]++
		t.noteTime(m.Name)
		if t.judgesTTL() {
			if bound, _ := t.MaxTTL(m.Name); m.TTL > bound.Milliseconds() {
				t.Excessive++
			}
		}
	}
	if kind := classify.KindOf(m.Name); kind != classify.KindNone {
		t.Kinds[kind][without]++
	}
}

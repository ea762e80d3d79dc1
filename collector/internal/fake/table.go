// What a Node holds: databases whose tables SCAN walks as Redis walks its
// own, and the text of INFO. Commands and what can go wrong with them are in
// node.go.

package fake

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"keyhealth/collector/source"
)

// Key is a key as far as an exporter can see it.
type Key struct {
	Expires time.Time             // by the server's clock; zero: no TTL
	TTL     func(time.Time) int64 // instead of expires: PTTL's answer at a time
	Bytes   int64                 // MEMORY USAGE; 0: 100
	KeyType string                // TYPE; empty: string
	Value   string                // of a string
	Length  int64                 // of anything else
}

// Table is a hash table of a power of two of buckets.
type Table struct {
	bits    int
	buckets [][]string
	Keys    map[string]*Key
	Fixed   bool // does not grow by itself

	Slots   map[int]*Table // of a node of a Cluster: the same keys, one table a slot
	PerSlot bool           // SCAN goes through them
}

// NewTable is an empty table, which grows with its keys.
func NewTable() *Table {
	t := &Table{Keys: map[string]*Key{}}
	t.Resize(2)
	return t
}

// HashOf spreads names evenly, the same way in every run.
func HashOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// Mask has the bits that number the buckets.
func (t *Table) Mask() uint64 { return 1<<t.bits - 1 }

// Resize rehashes at once; a real server does so step by step.
func (t *Table) Resize(bits int) {
	t.bits, t.buckets = bits, make([][]string, 1<<bits)
	for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
		b := HashOf(name) & t.Mask()
		t.buckets[b] = append(t.buckets[b], name)
	}
}

// Put adds a key, or replaces it.
func (t *Table) Put(name string, k Key) {
	if t.Keys[name] == nil {
		b := HashOf(name) & t.Mask()
		t.buckets[b] = append(t.buckets[b], name)
	}
	t.Keys[name] = &k
	if !t.Fixed && len(t.Keys) > len(t.buckets) {
		t.Resize(t.bits + 1)
	}
	if t.Slots != nil {
		slot := source.SlotOf(name)
		if t.Slots[slot] == nil {
			t.Slots[slot] = NewTable()
		}
		t.Slots[slot].Put(name, k)
	}
}

func (t *Table) remove(name string) {
	b := HashOf(name) & t.Mask()
	t.buckets[b] = slices.DeleteFunc(t.buckets[b], func(n string) bool { return n == name })
	delete(t.Keys, name)
	if slot := t.Slots[source.SlotOf(name)]; slot != nil {
		if slot.remove(name); len(slot.Keys) == 0 {
			delete(t.Slots, source.SlotOf(name))
		}
	}
}

// TTL is PTTL's answer.
func (t *Table) TTL(name string, now time.Time) int64 {
	k := t.Keys[name]
	switch {
	case k == nil:
		return source.TTLGone
	case k.TTL != nil:
		return k.TTL(now)
	case k.Expires.IsZero():
		return source.TTLNone
	case !k.Expires.After(now):
		return source.TTLGone
	}
	return k.Expires.Sub(now).Milliseconds()
}

// Scan is Redis' dictScan: whole buckets from the cursor's on, in the order of
// their reversed bits, until there are count keys or ten times as many buckets
// were looked at. Expired keys are not shown.
func (t *Table) Scan(v uint64, count int, now time.Time) source.Page {
	if t.PerSlot {
		return t.scanSlots(v, count, now)
	}
	var p source.Page
	for left := 10 * count; ; left-- {
		for _, name := range t.buckets[v&t.Mask()] {
			if t.TTL(name, now) != source.TTLGone {
				p.Names = append(p.Names, name)
			}
		}
		v = bits.Reverse64(bits.Reverse64(v|^t.Mask()) + 1)
		if v == 0 || left == 0 || len(p.Names) >= count {
			p.Next = v
			return p
		}
	}
}

// slotShift is how many bits of a cursor are the slot, where tables are one a slot.
const slotShift = 14

// scanSlots is kvstoreScan of Redis 7.4: bucket by bucket through the table of
// the cursor's slot, then through those of the following slots that have keys.
// It counts expired keys, and does not show them.
func (t *Table) scanSlots(v uint64, count int, now time.Time) source.Page {
	var p source.Page
	for left, sampled := 10*count, 0; ; left-- {
		slot, position := v&(source.HashSlots-1), v>>slotShift
		if table := t.Slots[int(slot)]; table != nil {
			for _, name := range table.buckets[position&table.Mask()] {
				sampled++
				if table.TTL(name, now) != source.TTLGone {
					p.Names = append(p.Names, name)
				}
			}
			position = bits.Reverse64(bits.Reverse64(position|^table.Mask()) + 1)
		} else {
			position = 0
		}
		v = position<<slotShift | slot
		if position == 0 {
			if v = t.slotFrom(slot + 1); v == source.HashSlots {
				return p
			}
		}
		if left == 0 || sampled >= count {
			p.Next = v
			return p
		}
	}
}

// slotFrom is the first slot with keys from one on, hashSlots: none.
func (t *Table) slotFrom(slot uint64) uint64 {
	for slot < source.HashSlots && t.Slots[int(slot)] == nil {
		slot++
	}
	return slot
}

// size is what INFO counts: expired keys that nobody has touched, too.
func (t *Table) size() source.DBSize {
	size := source.DBSize{Keys: int64(len(t.Keys))}
	for _, k := range t.Keys {
		if k.TTL != nil || !k.Expires.IsZero() {
			size.Expires++
		}
	}
	return size
}

// Section is a part of INFO's text; its fields are "name:value".
type Section struct {
	Name   string
	Fields []string
}

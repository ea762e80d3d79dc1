// What a fakeNode holds: databases whose tables SCAN walks as Redis walks its
// own, and the text of INFO. Commands and what can go wrong with them are in
// fakenode_test.go.

package collector

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// fakeKey is a key as far as an exporter can see it.
type fakeKey struct {
	expires time.Time             // by the server's clock; zero: no TTL
	ttl     func(time.Time) int64 // instead of expires: PTTL's answer at a time
	bytes   int64                 // MEMORY USAGE; 0: 100
	keyType string                // TYPE; empty: string
	value   string                // of a string
	length  int64                 // of anything else
}

// fakeTable is a hash table of a power of two of buckets.
type fakeTable struct {
	bits    int
	buckets [][]string
	keys    map[string]*fakeKey
	fixed   bool // does not grow by itself

	slots   map[int]*fakeTable // of a node of a Cluster: the same keys, one table a slot
	perSlot bool               // SCAN goes through them
}

func newFakeTable() *fakeTable {
	t := &fakeTable{keys: map[string]*fakeKey{}}
	t.resize(2)
	return t
}

// hashOf spreads names evenly, the same way in every run.
func hashOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func (t *fakeTable) mask() uint64 { return 1<<t.bits - 1 }

// resize rehashes at once; a real server does so step by step.
func (t *fakeTable) resize(bits int) {
	t.bits, t.buckets = bits, make([][]string, 1<<bits)
	for _, name := range slices.Sorted(maps.Keys(t.keys)) {
		b := hashOf(name) & t.mask()
		t.buckets[b] = append(t.buckets[b], name)
	}
}

func (t *fakeTable) put(name string, k fakeKey) {
	if t.keys[name] == nil {
		b := hashOf(name) & t.mask()
		t.buckets[b] = append(t.buckets[b], name)
	}
	t.keys[name] = &k
	if !t.fixed && len(t.keys) > len(t.buckets) {
		t.resize(t.bits + 1)
	}
	if t.slots != nil {
		slot := slotOf(name)
		if t.slots[slot] == nil {
			t.slots[slot] = newFakeTable()
		}
		t.slots[slot].put(name, k)
	}
}

func (t *fakeTable) remove(name string) {
	b := hashOf(name) & t.mask()
	t.buckets[b] = slices.DeleteFunc(t.buckets[b], func(n string) bool { return n == name })
	delete(t.keys, name)
	if slot := t.slots[slotOf(name)]; slot != nil {
		if slot.remove(name); len(slot.keys) == 0 {
			delete(t.slots, slotOf(name))
		}
	}
}

// ttl is PTTL's answer.
func (t *fakeTable) ttl(name string, now time.Time) int64 {
	k := t.keys[name]
	switch {
	case k == nil:
		return ttlGone
	case k.ttl != nil:
		return k.ttl(now)
	case k.expires.IsZero():
		return ttlNone
	case !k.expires.After(now):
		return ttlGone
	}
	return k.expires.Sub(now).Milliseconds()
}

// scan is Redis' dictScan: whole buckets from the cursor's on, in the order of
// their reversed bits, until there are count keys or ten times as many buckets
// were looked at. Expired keys are not shown.
func (t *fakeTable) scan(v uint64, count int, now time.Time) page {
	if t.perSlot {
		return t.scanSlots(v, count, now)
	}
	var p page
	for left := 10 * count; ; left-- {
		for _, name := range t.buckets[v&t.mask()] {
			if t.ttl(name, now) != ttlGone {
				p.names = append(p.names, name)
			}
		}
		v = bits.Reverse64(bits.Reverse64(v|^t.mask()) + 1)
		if v == 0 || left == 0 || len(p.names) >= count {
			p.next = v
			return p
		}
	}
}

// slotShift is how many bits of a cursor are the slot, where tables are one a slot.
const slotShift = 14

// scanSlots is kvstoreScan of Redis 7.4: bucket by bucket through the table of
// the cursor's slot, then through those of the following slots that have keys.
// It counts expired keys, and does not show them.
func (t *fakeTable) scanSlots(v uint64, count int, now time.Time) page {
	var p page
	for left, sampled := 10*count, 0; ; left-- {
		slot, position := v&(hashSlots-1), v>>slotShift
		if table := t.slots[int(slot)]; table != nil {
			for _, name := range table.buckets[position&table.mask()] {
				sampled++
				if table.ttl(name, now) != ttlGone {
					p.names = append(p.names, name)
				}
			}
			position = bits.Reverse64(bits.Reverse64(position|^table.mask()) + 1)
		} else {
			position = 0
		}
		v = position<<slotShift | slot
		if position == 0 {
			if v = t.slotFrom(slot + 1); v == hashSlots {
				return p
			}
		}
		if left == 0 || sampled >= count {
			p.next = v
			return p
		}
	}
}

// slotFrom is the first slot with keys from one on, hashSlots: none.
func (t *fakeTable) slotFrom(slot uint64) uint64 {
	for slot < hashSlots && t.slots[int(slot)] == nil {
		slot++
	}
	return slot
}

// size is what INFO counts: expired keys that nobody has touched, too.
func (t *fakeTable) size() DBSize {
	size := DBSize{Keys: int64(len(t.keys))}
	for _, k := range t.keys {
		if k.ttl != nil || !k.expires.IsZero() {
			size.Expires++
		}
	}
	return size
}

// infoSection is a part of INFO's text; its fields are "name:value".
type infoSection struct {
	name   string
	fields []string
}

// fakeInfo is a server with some history.
func fakeInfo() []infoSection {
	return []infoSection{
		{"Server", []string{"redis_version:7.0.15", "redis_mode:standalone"}},
		{"Memory", []string{
			"used_memory:1048576", "used_memory_rss:2097152", "used_memory_overhead:262144", "used_memory_dataset:786432",
			"total_system_memory:8589934592", "maxmemory:67108864", "maxmemory_policy:volatile-lru", "mem_fragmentation_ratio:2.00",
		}},
		{"Stats", []string{
			"expired_keys:5000", "expired_stale_perc:12.50", "expired_time_cap_reached_count:2", "evicted_keys:7",
		}},
		{"Replication", []string{"role:master"}},
		{"Commandstats", []string{
			"cmdstat_get:calls=9,usec=9,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
			"cmdstat_evalsha:calls=1200,usec=240000,usec_per_call=200.00,rejected_calls=1,failed_calls=3",
		}},
		{"Errorstats", []string{"errorstat_NOSCRIPT:count=3", "errorstat_ERR:count=12"}},
		{"Latencystats", []string{"latency_percentiles_usec_evalsha:p50=180.223,p99=401.407,p99.9=1003.519"}},
	}
}

// infoText is what INFO answers.
func (n *fakeNode) infoText() string {
	var b strings.Builder
	for _, section := range n.sections {
		fmt.Fprintf(&b, "# %s\r\n%s\r\n\r\n", section.name, strings.Join(section.fields, "\r\n"))
	}
	if n.noKeyspace {
		return b.String()
	}
	b.WriteString("# Keyspace\r\n")
	for _, db := range slices.Sorted(maps.Keys(n.tables)) {
		if size := n.tables[db].size(); size.Keys > 0 {
			fmt.Fprintf(&b, "db%d:keys=%d,expires=%d,avg_ttl=0\r\n", db, size.Keys, size.Expires)
		}
	}
	return b.String()
}

// say changes a field of INFO.
func (n *fakeNode) say(field, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, section := range n.sections {
		for i, line := range section.fields {
			if strings.HasPrefix(line, field+":") {
				section.fields[i] = field + ":" + value
				return
			}
		}
	}
	panic("fakeInfo has no field " + field)
}

// withhold leaves a section out of INFO.
func (n *fakeNode) withhold(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sections = slices.DeleteFunc(n.sections, func(s infoSection) bool { return s.name == name })
}

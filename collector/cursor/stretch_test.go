package cursor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// fakeNow is the time of tables that are scanned without a node.
var fakeNow = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// slotCountsOf counts a table's keys by slot.
func slotCountsOf(table *fake.Table) *SlotCounts {
	var slots []int
	var counts []int64
	for slot, part := range table.Slots {
		slots, counts = append(slots, slot), append(counts, int64(len(part.Keys)))
	}
	return NewSlotCounts(slots, counts)
}

// slotTables has tables of random sizes for many slots, their mean being given;
// roomy ones are larger than their keys need by 2^roomy. Of the keys a part has
// expired and is not reclaimed.
func slotTables(rng *rand.Rand, mean float64, roomy int, expired float64) *fake.Table {
	table := fake.NewTable()
	table.Slots, table.PerSlot = map[int]*fake.Table{}, true
	for slot := range int(min(5000, 40_000/mean)) {
		count := int(mean + math.Sqrt(mean)*rng.NormFloat64() + rng.Float64())
		if count <= 0 {
			continue
		}
		part := fake.NewTable()
		part.Fixed = true
		for i := range count {
			key := fake.Key{}
			if rng.Float64() < expired {
				key.Expires = fakeNow.Add(-time.Second)
			}
			part.Put(fmt.Sprintf("%d:%d", slot, i), key)
		}
		width := leastBits
		for 1<<width < count {
			width++
		}
		part.Resize(max(0, width+roomy))
		table.Slots[900+slot] = part
	}
	return table
}

// TestSlotShare: over many pages at places drawn as a sample's, the keys they are
// said to have gone over are as many as they met, those included that have
// expired.
func TestSlotShare(t *testing.T) {
	for _, mean := range []float64{1, 5, 12, 20, 100, 1000} {
		for _, test := range []struct {
			roomy   int
			expired float64
		}{{0, 0}, {0, 0.5}, {2, 0}, {-2, 0}, {-3, 0}} {
			t.Run(fmt.Sprintf("%v keys a slot, room for 2^%d times as many, %v expired", mean, test.roomy, test.expired), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 1))
				table := slotTables(rng, mean, test.roomy, test.expired)
				counts := slotCountsOf(table)
				line := Covered{Line: Line{Slots: counts}}
				met := 0
				page := func(start Place) source.Page {
					p := table.Scan(start.slotCursor(), SampleCount, fakeNow)
					line.Page(start, p.Next)
					met += len(p.Names)
					return p
				}
				const pages = 20_000
				for i := range pages {
					start := counts.at((float64(i) + rng.Float64()) / pages)
					if p := page(start); p.Next == 0 && len(p.Names) < SampleCount { // as in a sample: go on at the beginning
						page(0)
					}
				}
				live := 0.0
				for _, part := range table.Slots {
					for name := range part.Keys {
						if part.TTL(name, fakeNow) == source.TTLNone {
							live++
						}
					}
				}
				bound := 0.01
				if test.roomy < 0 {
					bound = 0.015
				}
				if off := float64(met)/line.Share()/live - 1; math.Abs(off) > bound {
					t.Errorf("the pages say that there are %.2f %% more keys than there are", 100*off)
				}
			})
		}
	}
}

// TestSlotShareExactly has pages of which every key is known.
func TestSlotShareExactly(t *testing.T) {
	counts := NewSlotCounts([]int{5, 6, 100}, []int64{4, 3, 20_000_000})
	huge := Place(100) << positionBits
	half := Place(1) << (positionBits - 1)
	for name, test := range map[string]struct {
		start Place
		next  uint64
		want  float64 // keys
	}{
		"all in one page":                   {0, 0, 20_000_007},
		"from the first slot with keys":     {5 << positionBits, 0, 20_000_007},
		"the huge slot":                     {huge, 0, 20_000_000},
		"half of it":                        {huge, (huge + half).slotCursor(), 10_000_000},
		"the other half":                    {huge + half, 0, 10_000_000},
		"the slots before it and half":      {0, (huge + half).slotCursor(), 10_000_007},
		"two whole slots":                   {5 << positionBits, 100, 7},
		"a start in an empty slot":          {7 << positionBits, (huge + half).slotCursor(), 10_000_000},
		"a slot that was emptied since":     {200 << positionBits, 0, 0},
		"an end in a slot that has no keys": {200 << positionBits, 1<<slotBits | 300, 0},
	} {
		line := Covered{Line: Line{Slots: counts}}
		line.Page(test.start, test.next)
		if got := line.Share() * float64(counts.total()); math.Abs(got-test.want) > 1.001 {
			t.Errorf("%s: %v keys, want %v", name, got, test.want)
		}
	}
	none := Covered{Line: Line{Slots: NewSlotCounts(nil, nil)}}
	none.Page(0, 0)
	if none.Share() != 0 {
		t.Error("of no keys a part was covered")
	}
}

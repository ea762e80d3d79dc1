package collector

import (
	"fmt"
	"testing"
	"time"
)

// TestTagsOfASample: each key that is there counts in its own group, by page.
func TestTagsOfASample(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, s := clusterNode(t, true, 300, plain(1000)...)
		for i := range 1000 {
			n.set(0, fmt.Sprintf("hot:{%d}:%d", i/10, i), time.Duration(i/10%2)*time.Hour) // tags alike
		}
		s.target.Discovery.Enabled = false
		d := sweepOf(t, s).Databases[0]
		hot, rest := d.groups[0], d.groups[1]
		if got := hot.tags.effect(hot.examined(), hot.without); got < 3 || got > 10 {
			t.Errorf("10 keys a tag, all alike: an effect of %v (%d keys, %+v)", got, hot.examined(), hot.tags)
		}
		if got := rest.tags; got.squares != rest.examined() || got.mixed != 0 {
			t.Errorf("%d keys without a tag: %+v", rest.examined(), got)
		}
	})
}

// TestTagsAcrossTheWrap: what a page that met the end of the round found at its
// beginning belongs to that page, and not to another one of the batch.
func TestTagsAcrossTheWrap(t *testing.T) {
	low, high := tagIn(7), tagIn(16000)
	n, s := clusterNode(t, true, 10, append(inSlots(10, low), inSlots(5, high)...)...)
	c, err := n.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	run := &session{
		sweeper: s, conn: c, tags: newTagPage(),
		line:     line{slots: newSlotCounts([]int{7, 16000}, []int64{10, 5})},
		counting: counting{classifier: s.classifier, suspects: newNameStore(s.rng, limitedTo)},
	}
	d := run.counting.newDBTally(0, false)
	starts := []place{7 << 50, 16000 << 50}
	if _, err := run.pages(t.Context(), d, starts, &covered{line: run.line}); err != nil {
		t.Fatal(err)
	}
	if got, want := d.groups[0].tags.squares, int64(10*10+5*5+10*10); got != want {
		t.Errorf("the squares of the clusters sum to %d, want %d", got, want)
	}
}

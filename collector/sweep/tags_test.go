package sweep

import (
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/cursor"
	"keyhealth/collector/tally"
)

// TestTagsOfASample: each key that is there counts in its own group, by page.
func TestTagsOfASample(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, s := clusterNode(t, true, 300, plain(1000)...)
		for i := range 1000 {
			n.Set(0, fmt.Sprintf("hot:{%d}:%d", i/10, i), time.Duration(i/10%2)*time.Hour) // tags alike
		}
		s.target.Discovery.Enabled = false
		d := sweepOf(t, s).Databases[0]
		hot, rest := d.Groups[0], d.Groups[1]
		if got := hot.Tags.Effect(hot.Examined(), hot.Without); got < 3 || got > 10 {
			t.Errorf("10 keys a tag, all alike: an effect of %v (%d keys, %+v)", got, hot.Examined(), hot.Tags)
		}
		if got := rest.Tags; got.Squares != rest.Examined() || got.Mixed != 0 {
			t.Errorf("%d keys without a tag: %+v", rest.Examined(), got)
		}
	})
}

// TestTagsAcrossTheWrap: what a page that met the end of the round found at its
// beginning belongs to that page, and not to another one of the batch.
func TestTagsAcrossTheWrap(t *testing.T) {
	low, high := tagIn(7), tagIn(16000)
	n, s := clusterNode(t, true, 10, append(inSlots(10, low), inSlots(5, high)...)...)
	c, err := n.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	run := &session{
		sweeper: s, conn: c, tags: tally.NewTagPage(),
		line:     cursor.Line{Slots: cursor.NewSlotCounts([]int{7, 16000}, []int64{10, 5})},
		counting: tally.Counting{Classifier: s.classifier, Suspects: tally.NewStore(s.rng, tally.LimitedTo)},
	}
	d := run.counting.NewDatabase(0, false)
	starts := []cursor.Place{7 << 50, 16000 << 50}
	if _, err := run.pages(t.Context(), d, starts, &cursor.Covered{Line: run.line}); err != nil {
		t.Fatal(err)
	}
	if got, want := d.Groups[0].Tags.Squares, int64(10*10+5*5+10*10); got != want {
		t.Errorf("the squares of the clusters sum to %d, want %d", got, want)
	}
}

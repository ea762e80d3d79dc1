// What a step of the exporter's clock changes: nothing but the timestamps that are
// shown. A fake clock cannot show it: it has no second, monotonic reading. So here
// the readings that a watcher keeps are moved, as a clock that was set since would
// have it, and the monotonic ones stay. No clock of ours judges Redis' keys.

package collector

import (
	"testing"
	"time"
	"unsafe"

	"keyhealth/collector/internal/fake"
)

const tenYears = 10 * 365 * 24 * time.Hour

// steps are how the clock was set after a time was read: the time is then behind
// or ahead of what the clock shows.
var steps = map[string]time.Duration{"forward": -tenYears, "back": tenYears}

// wasRead moves a time's reading of the clock, which package time keeps in whole
// seconds above bit 30 where there is a monotonic one too, and says so in bit 63.
func wasRead(t *testing.T, at time.Time, step time.Duration) time.Time {
	t.Helper()
	moved := at
	wall := (*uint64)(unsafe.Pointer(&moved)) // there is no other way to a time like this
	if *wall>>63 == 0 {
		t.Fatal("a time is kept without its monotonic reading: a step of the clock would count as age")
	}
	*wall += uint64(step/time.Second) << 30 // a negative step wraps around, as it should
	if moved.Unix()-at.Unix() != int64(step/time.Second) || moved.Sub(at) != 0 {
		t.Fatal("package time keeps its readings in another way")
	}
	return moved
}

// afterStep is a watcher that has swept before the clock was set.
func afterStep(t *testing.T, staleAfter, step time.Duration) *Watcher {
	t.Helper()
	target, n := targetOf(t, ""), fake.NewNode(t)
	target.Sweep.StaleAfter = staleAfter
	n.Put(0, "page:%d", 10, 0)
	w := watcherOf(target, n, silentLog())
	sweepAndPublish(w)
	if len(w.nodes) != 1 || len(w.shards) != 1 || w.Snapshot().Databases == nil {
		t.Fatal("nothing was found")
	}
	for _, n := range w.nodes {
		n.answered = wasRead(t, n.answered, step)
	}
	for id, last := range w.shards {
		last.at = wasRead(t, last.at, step)
		w.shards[id] = last
	}
	return w
}

// TestAgeAfterAClockStep: data are dropped when they are old, not when the clock
// says so, and not never.
func TestAgeAfterAClockStep(t *testing.T) {
	for name, step := range steps {
		w := afterStep(t, time.Hour, step)
		if again := w.dropStale(); again < 50*time.Minute || again > time.Hour {
			t.Errorf("%s: looks again in %v, want an hour", name, again)
		}
		if s := w.Snapshot(); s.Databases == nil || s.Nodes[0].Info == nil {
			t.Errorf("%s: fresh data are gone", name)
		}
		w = afterStep(t, time.Millisecond, step)
		for began := time.Now(); w.Snapshot().Databases != nil || w.Snapshot().Nodes[0].Info != nil; {
			if w.dropStale(); time.Since(began) > 10*time.Second {
				t.Errorf("%s: old data stay", name)
				break
			}
		}
	}
}

// TestIntervalAfterAClockStep: the next sweep comes when the interval is over.
func TestIntervalAfterAClockStep(t *testing.T) {
	for name, step := range steps {
		w := afterStep(t, time.Hour, step)
		w.state.Health.Sweeps = 2 // the second is early
		if pause := w.pause(wasRead(t, time.Now(), step)); pause < 50*time.Second || pause > time.Minute {
			t.Errorf("%s: the next sweep comes in %v, want a minute", name, pause)
		}
	}
}

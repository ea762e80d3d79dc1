// Samples: how fair they are, where they end, and what part of SCAN's order
// they say they covered.

package sweep

import (
	"math"
	"slices"
	"testing"
	"time"

	"keyhealth/collector/cursor"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/spec"
)

// sampledTarget has a budget that its keyspace is to exceed.
func sampledTarget(t testing.TB, groups string, budget int64) spec.Target {
	target := targetOf(t, groups)
	target.Sweep.MaxKeys, target.Sweep.MemorySamples = budget, 0
	return target
}

// TestSampleIsFair counts over many sweeps how often each key is met: nearly
// every key about as often as any other, and every part of SCAN's order as
// often as any other, also where the time ends a sample early.
func TestSampleIsFair(t *testing.T) {
	for name, scanTime := range map[string]time.Duration{"whole": 0, "cut short": 100 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const sweeps, parts = 400, 20
				n := fake.NewNode(t)
				n.Put(0, "limit:%d", 2000, time.Hour)
				n.Delay("scan", scanTime) // with its pause: a second a batch
				target := sampledTarget(t, "", 300)
				target.Sweep.Interval = 6 * time.Second
				times, byPart, met := map[string]int{}, [parts]float64{}, 0.0
				for seed := range uint64(sweeps) {
					n.Forget()
					sweepOf(t, newSweeper(target, n, seed))
					for name, n := range metIn(n, 0) {
						times[name] += n
						byPart[int(float64(cursor.Line{}.Place(fake.HashOf(name)))/0x1p64*parts)] += float64(n)
						met += float64(n)
					}
				}
				if perSweep := met / sweeps; scanTime == 0 && perSweep < 300 || scanTime > 0 && (perSweep < 150 || perSweep > 250) {
					t.Errorf("%v keys a sweep", perSweep)
				}
				for part, n := range byPart {
					if want := met / parts; math.Abs(n-want) > 0.12*want {
						t.Errorf("part %d of SCAN's order was met %v times, want about %.0f", part, n, want)
					}
				}
				rare, frequent, mean := 0, 0, met/2000
				for name := range n.Table(0).Keys {
					switch seen := float64(times[name]); {
					case seen < mean/3:
						rare++
					case seen > mean*3:
						frequent++
					}
				}
				if rare > 20 || frequent > 20 {
					t.Errorf("of 2000 keys %d were met far less often than the mean of %.1f, %d far more often", rare, mean, frequent)
				}
			})
		})
	}
}

// TestSampleStarts: one start in each of as many equal stretches of the line, not
// always at the same place in it, and in no order.
func TestSampleStarts(t *testing.T) {
	s := &session{sweeper: newSweeper(sampledTarget(t, "", 1000), fake.NewNode(t), 1)}
	starts := s.places(10_000)
	sorted := slices.Sorted(slices.Values(starts))
	stretch := 0x1p64 / float64(len(starts))
	gaps := map[int]bool{} // in tenths of a stretch
	for i := range sorted {
		gap := float64(sorted[(i+1)%len(sorted)] - sorted[i])
		if gap > 2*stretch {
			t.Errorf("a gap of %v stretches after %v", gap/stretch, sorted[i])
		}
		gaps[int(10*gap/stretch)] = true
	}
	inOrder := 0
	for i := range starts[1:] {
		if starts[i+1] > starts[i] {
			inOrder++
		}
	}
	if len(starts) < 100 || len(gaps) < 10 || inOrder > len(starts)*2/3 {
		t.Errorf("%d starts with %d different gaps, %d times one after the other", len(starts), len(gaps), inOrder)
	}
	if again := s.places(10_000); slices.Equal(again, starts) {
		t.Error("the next sweep begins at the same places")
	}
}

// TestSampleIsUnbiased: over many sweeps the figures of a group average to the
// truth.
func TestSampleIsUnbiased(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 1500, time.Hour)
		n.Put(0, "limit:stuck:%d", 100, 0)
		n.Put(0, "page:%d", 400, 0)
		target := sampledTarget(t, "limit=limit:*@1h,page=page:*@persistent", 300)
		var keys, without, zombies float64
		const sweeps = 300
		for seed := range uint64(sweeps) {
			g := mustGroup(t, sweepOf(t, newSweeper(target, n, seed)), 0, "limit")
			keys, without = keys+g.Keys/sweeps, without+g.WithoutTTL/sweeps
			zombies += g.Zombies.Keys / sweeps
			if g.Zombies.Interval.Lower > g.Zombies.Ratio || g.Zombies.Interval.Upper < g.Zombies.Ratio {
				t.Errorf("seed %d: %v is outside of %+v", seed, g.Zombies.Ratio, g.Zombies.Interval)
			}
		}
		// The live keys are capped at INFO's number, which makes small samples of a
		// keyspace without expired keys a little too low.
		if keys < 1540 || keys > 1620 || math.Abs(without-100) > 6 || math.Abs(zombies-without) > 1e-6 {
			t.Errorf("on average %.1f keys of 1600, %.1f without TTL of 100, %.1f zombies", keys, without, zombies)
		}
	})
}

// TestSampleEndsInTime: at a third of the interval, however much of the budget
// is left.
func TestSampleEndsInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 20_000, time.Hour)
		n.Delay("scan", 100*time.Millisecond) // with its pause: a second a batch of 100 keys
		start := time.Now()
		result := sweepOf(t, newSweeper(sampledTarget(t, "", 10_000), n, 1))
		if took := time.Since(start); took < 19*time.Second || took > 22*time.Second {
			t.Errorf("took %v, want a third of a minute", took)
		}
		if result.Examined < 1900 || result.Examined > 2600 {
			t.Errorf("examined %d keys, want about 2100", result.Examined)
		}
		if seen := float64(result.Examined) / 20_000; result.Share < seen*0.85 || result.Share > seen*1.15 {
			t.Errorf("says it covered %v, having met %v of the keys", result.Share, seen)
		}
	})
}

// TestSampleShare: the part covered is what the pages went over, bucket by
// bucket, and a page that meets the end of the round goes on at its beginning.
func TestSampleShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 1000, time.Hour)
		early := 0
		for seed := range uint64(100) {
			n.Forget()
			result := sweepOf(t, newSweeper(sampledTarget(t, "", 200), n, seed))
			buckets, owed := 0.0, 0
			for _, call := range n.Log("scan") {
				for i, p := range call.Pages {
					from, to := call.Cursors[i]&n.Table(0).Mask(), float64(cursor.Line{}.Place(p.Next))
					if p.Next == 0 {
						to = 0x1p64
					}
					buckets += (to - float64(cursor.Line{}.Place(from))) / 0x1p64
					if call.Cursors[i] == 0 {
						owed--
					} else if p.Next == 0 && len(p.Names) < cursor.SampleCount {
						owed, early = owed+1, early+1
					}
				}
			}
			if math.Abs(result.Databases[0].Share-buckets) > 1e-9 {
				t.Errorf("seed %d: a share of %v, its pages covered %v", seed, result.Databases[0].Share, buckets)
			}
			if owed != 0 {
				t.Errorf("seed %d: %d pages that met the end early were not gone on with", seed, owed)
			}
		}
		if early == 0 {
			t.Error("no page met the end of the round early: the test shows nothing")
		}
	})
}

// A group that one sample hardly meets: samples of it are pooled until its
// alert can tell 10 % zombies from 4 %.

package sweep

import (
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

const (
	alertWithin   = 25  // sweeps, one a minute
	quietFor      = 200 // sweeps
	limiterKeys   = 2000
	standsAlone   = 1000 // keys of a sample that needs no other
	alertOfGroups = "KeyhealthZombieRatioHigh"
)

// limiter is a group of 2,000 keys of which some per cent are zombies.
func limiter(percent int) crowd {
	return crowd{name: "limiter", keys: limiterKeys, zombies: limiterKeys * percent / 100}
}

// TestStatsAlert in virtual time: 5 % of the keyspace are examined a sweep, as
// the default budget does of 2,000,000 keys.
func TestStatsAlert(t *testing.T) {
	for _, percent := range []int{10, 4} {
		sweeps, seeds, wanted := alertWithin, 3, true
		if percent == 4 {
			sweeps, seeds, wanted = quietFor, 1, false
		}
		if inFull() {
			seeds *= 5
		}
		n := fake.NewNode(t)
		bubble(t, func(*testing.T) {
			c := limiter(percent)
			n.Put(0, "limiter:stuck:%d", c.zombies, 0)
			n.Put(0, "limiter:%d", c.keys-c.zombies, 24*time.Hour)
			n.Put(0, "other:%d", 18_000, 24*time.Hour)
		})
		for seed := range uint64(seeds) {
			t.Run(fmt.Sprintf("%d %%, seed %d", percent, seed), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					target := sampledTarget(t, "limiter=limiter:*@24h", 1000)
					target.Sweep.BigKeys.Budget = 0
					s, began := newSweeper(target, n, seed), time.Now()
					var run history
					for minute := range sweeps {
						pass(time.Until(began.Add(time.Duration(minute) * time.Minute)))
						n.Forget()
						run.add(sweepOf(t, s))
					}
					wantFires(t, run, wanted)
				})
			})
		}
	}
}

// measureAlert is the same at its real size, with the default budget.
func measureAlert(t *testing.T) {
	server := redistest.Start(t)
	for _, percent := range []int{10, 4} {
		crowds := []crowd{limiter(percent), {name: "rest", keys: 1_998_000}}
		fillCrowds(t, server, percent, crowds)
		target := crowdTarget(t, server.Addr(), crowds, spec.DefaultSweep().MaxKeys)
		target.Sweep.Pool = spec.DefaultSweep().Pool
		sweeps, seeds, wanted := alertWithin, 6, true
		if percent == 4 {
			sweeps, seeds, wanted = quietFor, 1, false
		}
		for seed := range uint64(seeds) {
			t.Run(fmt.Sprintf("%d %%, seed %d", percent, seed), func(t *testing.T) {
				s := hasty(target, serverOf(target), seed)
				var run history
				for range sweeps {
					run.add(sweepOf(t, s))
				}
				wantFires(t, run, wanted)
			})
		}
	}
}

// wantFires evaluates the real rule on a run.
func wantFires(t *testing.T, run history, wanted bool) {
	t.Helper()
	highest, examined := 0.0, int64(0)
	for _, s := range run {
		g := groupOf(s.Groups, 0, "limiter")
		highest, examined = max(highest, g.Zombies.Interval.Lower), max(examined, g.Examined)
	}
	if examined < standsAlone || examined > standsAlone+500 {
		t.Errorf("figures stand on up to %d keys, want those of about ten samples", examined)
	}
	if fired := run.fires(t, alertOfGroups); fired != wanted {
		t.Errorf("fired: %v in %d sweeps; the highest lower bound is %.3f", fired, len(run), highest)
	}
	if n := firstFiring(run); n > 0 != wanted {
		t.Errorf("the condition of one group held for ten minutes at minute %d", n)
	} else {
		t.Logf("highest lower bound %.3f, condition for ten minutes at minute %d", highest, n)
	}
}

// firstFiring is the minute in which the rule's first half had held for ten
// minutes; 0: never.
func firstFiring(run history) int {
	since := -1
	for minute, s := range run {
		switch z := groupOf(s.Groups, 0, "limiter").Zombies; {
		case z.Interval.Lower <= 0.05 || z.Seen < 20:
			since = -1
		case since < 0:
			since = minute
		case minute-since >= 10:
			return minute
		}
	}
	return 0
}

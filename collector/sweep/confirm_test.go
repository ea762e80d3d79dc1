// The second and third looks: when they come, at which keys, and what is left
// of a healthy limiter's keys after them.

package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// TestLooks: each comes at least 2 s after the one before, and at most 3 s after
// the later of that and the end of the round before; a third one only where the
// max TTL is short or unstated.
func TestLooks(t *testing.T) {
	for groups, want := range map[string]int{
		"limit=limit:*@10s":        3, // max TTL 20 s
		"limit=limit:*@11s":        2,
		"limit=limit:*@1h":         2,
		"limit=limit:*":            3,
		"limit=limit:*@persistent": 1,
		"else=else:*":              1,
	} {
		t.Run(groups, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Put(0, "limit:%d", 900, 0)
				n.Put(0, "limit:fresh:%d", 100, time.Hour)
				n.Delay("scan", 50*time.Millisecond) // the first page is seen 5 s before the last
				sweepOf(t, newSweeper(targetOf(t, groups), n, 1))
				looks, ends := map[string][]time.Time{}, [3]time.Time{}
				for _, call := range n.Log("pttl") {
					for _, name := range call.Names {
						ends[len(looks[name])] = call.At
						looks[name] = append(looks[name], call.At)
					}
				}
				for name, at := range looks {
					want := want
					if strings.HasPrefix(name, "limit:fresh:") {
						want = 1
					}
					if len(at) != want {
						t.Fatalf("%s was looked at %d times, want %d", name, len(at), want)
					}
					for i := 1; i < len(at); i++ {
						if gap := at[i].Sub(at[i-1]); gap < 2*time.Second {
							t.Fatalf("look %d at %s came %v after the one before", i+1, name, gap)
						}
						if late := at[i].Sub(laterOf(at[i-1], ends[i-1])); late > 3*time.Second {
							t.Fatalf("look %d at %s came %v after the round before", i+1, name, late)
						}
					}
				}
			})
		})
	}
}

// TestConfirm: a key that got its TTL or vanished is no zombie, but what came in
// the place of the latter may be one. One that may not be read any more is neither:
// the others stand for it.
func TestConfirm(t *testing.T) {
	for groups, change := range map[string]time.Duration{
		"limit=limit:*@60s": time.Second,             // before the second looks
		"limit=limit:*@5s":  3500 * time.Millisecond, // after them, before the third
	} {
		t.Run(groups, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				for _, fate := range []string{"stuck", "healed", "gone", "hidden"} {
					n.Put(0, "limit:"+fate+":%d", 25, 0)
				}
				time.AfterFunc(change, func() {
					n.Put(0, "limit:healed:%d", 25, time.Minute)
					for i := range 25 {
						n.Remove(0, fmt.Sprintf("limit:gone:%d", i))
					}
					n.Forbid("limit:hidden:")
				})
				result := sweepOf(t, newSweeper(targetOf(t, groups), n, 1))
				g := mustGroup(t, result, 0, "limit")
				near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
				if g.Keys != 100 || g.WithoutTTL != 100 || !near(g.Zombies.Keys, 100./3) || g.Zombies.Seen != 25 ||
					!near(g.Zombies.Interval.Lower, estimate.ClopperPearson(25, 75).Lower) || !near(g.Zombies.Interval.Upper, estimate.ClopperPearson(50, 75).Upper) {
					t.Errorf("%+v %+v", g, *g.Zombies)
				}
				for _, k := range result.Databases[0].Groups[0].Confirmed {
					if !strings.HasPrefix(k.Name, "limit:stuck:") {
						t.Errorf("%s is confirmed", k.Name)
					}
				}
			})
		})
	}
}

// TestReplacedInMidWalk: keys that went between the looks may have come back under
// other names; nobody may be sure that there are none.
func TestReplacedInMidWalk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 100, 0)
		n.Put(0, "limit:fine:%d", 100, time.Minute)
		time.AfterFunc(time.Second, func() {
			for i := range 100 {
				n.Remove(0, fmt.Sprintf("limit:%d", i))
			}
			n.Put(0, "limit:new:%d", 100, 0)
		})
		z := mustGroup(t, sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)), 0, "limit").Zombies
		if z.Keys != 0 || z.Interval != (estimate.Interval{Lower: 0, Upper: 0.5}) {
			t.Errorf("%+v, want none seen, and up to a half", *z)
		}
	})
}

// TestConfirmInSeveralDatabases: a name is looked at again in its own database.
func TestConfirmInSeveralDatabases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		for _, db := range []int{0, 1, 5} {
			n.Put(db, "limit:%d", 300, 0)
		}
		n.Delay("pttl", 10*time.Millisecond) // with its pause: looks of several databases are due together
		time.AfterFunc(time.Second, func() { n.Put(1, "limit:%d", 200, time.Minute) })
		result := sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@1h"), n, 1))
		for db, want := range map[int]float64{0: 300, 1: 100, 5: 300} {
			if g := mustGroup(t, result, db, "limit"); g.Zombies.Keys != want || g.Keys != 300 {
				t.Errorf("database %d: %v zombies of %v keys, want %v", db, g.Zombies.Keys, g.Keys, want)
			}
		}
	})
}

// TestManySuspects: above 10,000 a hundred a group are looked at again, and the
// counts are still those of all.
func TestManySuspects(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "stuck:%d", 8000, 0)
		n.Put(0, "half:%d", 3000, 0)
		n.Put(0, "few:%d", 40, 0)
		n.Put(0, "half:fresh:%d", 1000, time.Hour)
		time.AfterFunc(time.Second, func() { n.Put(0, "half:%d", 1500, time.Hour) })
		target := targetOf(t, "stuck=stuck:*@1h,half=half:*@1h,few=few:*@1h")
		target.Sweep.MemorySamples = 0
		result := sweepOf(t, newSweeper(target, n, 1))
		again := 0
		for _, call := range n.Log("pttl") {
			again += len(call.Names)
		}
		if again -= 12_040; again > 240 {
			t.Errorf("%d keys were looked at again", again)
		}
		for name, want := range map[string]struct{ keys, without, zombies, looked float64 }{
			"stuck": {8000, 8000, 8000, 100}, "half": {4000, 3000, 1500, 100}, "few": {40, 40, 40, 40},
		} {
			g := mustGroup(t, result, 0, name)
			z := g.Zombies
			if g.Keys != want.keys || g.WithoutTTL != want.without || float64(z.Seen) > want.looked {
				t.Errorf("%s: %+v, %d seen", name, g, z.Seen)
			}
			if z.Keys < want.zombies*0.75 || z.Keys > want.zombies*1.25 || name != "half" && z.Keys != want.zombies {
				t.Errorf("%s: %v zombies of %v", name, z.Keys, want.zombies)
			}
			if truth := want.zombies / want.keys; z.Interval.Lower > truth || z.Interval.Upper < truth {
				t.Errorf("%s: the truth %v is outside of %+v", name, truth, z.Interval)
			}
			if name != "few" && z.Interval.Upper-z.Interval.Lower < 0.01 {
				t.Errorf("%s: too sure after a look at a hundred: %+v", name, z.Interval)
			}
		}
	})
}

// TestHealthyLimiterHasNoZombies: its windows of a second begin with the wall
// clock's, and each with 50 ms between INCR and EXPIRE. All of its keys are seen
// in that gap; a later look at a fixed distance would see them in it again.
func TestHealthyLimiterHasNoZombies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		for i := range 2000 {
			n.Add(0, fmt.Sprintf("limit:%d", i), fake.Key{TTL: func(now time.Time) int64 {
				into := now.Sub(now.Truncate(time.Second))
				if into < 50*time.Millisecond {
					return source.TTLNone
				}
				return (time.Second - into).Milliseconds()
			}})
		}
		result := sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@1s"), n, 1))
		tally := result.Databases[0].Groups[0]
		if tally.Without != 2000 {
			t.Fatalf("%d keys were seen without TTL: the test shows nothing", tally.Without)
		}
		if confirmed := len(tally.Confirmed); confirmed > 20 {
			t.Errorf("%d of 2000 healthy keys are confirmed as zombies", confirmed)
		}
	})
}

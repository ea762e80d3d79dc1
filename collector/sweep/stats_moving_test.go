// What moves or hides under a sweep of a real server: a table that is rehashed
// meanwhile, keys that go between SCAN and PTTL, keys met twice, and databases
// other than 0.

package sweep

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/internal/redistest"
)

// TestStatsRehash: samples of a table that grows bucket by bucket while they
// look. It is over its limit by one key, and each PTTL moves one bucket.
func TestStatsRehash(t *testing.T) {
	const table, sweeps = 1 << 18, 12
	server := redistest.Start(t, "--activerehashing", "no", "--enable-debug-command", "yes")
	crowds := []crowd{{name: "limit", keys: table / 2, zombies: table / 20}, {name: "rest", keys: table/2 + 1, zombies: table / 4}}
	fillCrowds(t, server, 1, crowds)
	rehashing := func() bool {
		text, err := server.Client(t).Do(t.Context(), "DEBUG", "HTSTATS", "0").Text()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(text, "rehashing target")
	}
	target := crowdTarget(t, server.Addr(), crowds, 4000)
	s, c, seen := hasty(target, serverOf(target), 1), newCell(crowds[0]), moments{}
	for range sweeps {
		if !rehashing() {
			t.Fatal("the table is not being rehashed: the test shows nothing")
		}
		result := sweepOf(t, s)
		c.add(t, 0, []*Result{result})
		d := result.Databases[0]
		seen.add(d.Met() / d.Share / (table + 1))
	}
	t.Logf("live share %.4f\n%s\n%s", seen.mean(), cellHead, c)
	wantAll(t, []*cell{c}, 1e-8)
	if math.Abs(seen.mean()-1) > 0.03 {
		t.Errorf("the live share is %.4f", seen.mean())
	}
}

// TestStatsDatabases: samples of two databases, neither of them 0, with a group
// of the same name each: nothing of one is counted in the other.
func TestStatsDatabases(t *testing.T) {
	server := redistest.Start(t)
	of := map[int]crowd{3: {name: "limit", keys: 30_000, zombies: 9000}, 11: {name: "limit", keys: 60_000, zombies: 600}}
	for db, c := range of {
		redistest.Fill(t, server, "redis.call('SELECT', '"+map[int]string{3: "3", 11: "11"}[db]+"')"+fillLua, c.name, 1, c.keys, c.zombies, c.without(), 0)
	}
	target := crowdTarget(t, server.Addr(), []crowd{of[3]}, 10_000)
	s := hasty(target, serverOf(target), 1)
	for range 3 {
		_, groups := estimate.Figures(&sweepOf(t, s).Counted)
		for db, c := range of {
			g := groupOf(groups, db, c.name)
			if g == nil {
				t.Fatalf("database %d has no group", db)
			}
			if math.Abs(g.Keys-float64(c.keys)) > 1e-6*g.Keys || math.Abs(g.WithoutTTL-float64(c.zombies)) > 1e-6*g.Keys {
				t.Errorf("database %d: %.1f keys, %.1f without TTL; there are %+v", db, g.Keys, g.WithoutTTL, c)
			}
			if z := g.Zombies; z.Interval.Upper-z.Interval.Lower > 0.04 || z.Interval.Lower > 0.3 || z.Interval.Upper < 0.01 {
				t.Errorf("database %d: %+v of %+v", db, z, c)
			}
		}
		if zero := groupOf(groups, 0, "limit"); zero == nil || zero.Keys != 0 {
			t.Errorf("database 0: %+v", zero)
		}
	}
}

// TestStatsVanishing: a third of the keys go between SCAN and PTTL. They are no
// keys, and those that stay are neither fewer nor more.
func TestStatsVanishing(t *testing.T) {
	for name, budget := range map[string]int64{"walked": 10_000, "sampled": 1000} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const sweeps, stay = 60, 4000
				var keys, zombies moments
				for seed := range uint64(sweeps) {
					n := fake.NewNode(t)
					n.Put(0, "limit:%d", stay*9/10, time.Hour)
					n.Put(0, "limit:stuck:%d", stay/10, 0)
					n.Put(0, "limit:going:%d", stay/2, time.Hour)
					n.Script(func(_ context.Context, call fake.Call) error {
						for _, name := range call.Names {
							if call.Command == "pttl" && strings.HasPrefix(name, "limit:going:") {
								n.Remove(0, name)
							}
						}
						return nil
					})
					s := newSweeper(sampledTarget(t, "limit=limit:*@1h", budget), n, seed)
					result := sweepOf(t, s)
					g := mustGroup(t, result, 0, "limit")
					if g.ByTTL[0]+g.ByTTL[3] != g.Keys {
						t.Errorf("bands %v of %v keys", g.ByTTL, g.Keys)
					}
					keys.add(g.Keys)
					zombies.add(g.Zombies.Keys)
				}
				if math.Abs(keys.mean()/stay-1) > 0.03 || math.Abs(zombies.mean()/(stay/10)-1) > 0.05 {
					t.Errorf("%.0f keys of %d, %.0f zombies of %d", keys.mean(), stay, zombies.mean(), stay/10)
				}
			})
		})
	}
}

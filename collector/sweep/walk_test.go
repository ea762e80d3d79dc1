// Walks: from 0, from a random place, and on a server that must be spared.
// Samples are in sample_test.go, cursors that are no places in opaque_test.go.

package sweep

import (
	"context"
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
)

// metIn counts how often each name of a database was met: asked for its TTL
// while a sweep went through the keys, before it looked again.
func metIn(n *fake.Node, db int) map[string]int {
	met := map[string]int{}
	infos := 0
	for _, call := range n.Log("") {
		if call.Command == "connect" {
			infos = 0
		}
		if call.Command == "info" {
			infos++
		}
		if call.Command == "pttl" && call.DB == db && infos == 1 {
			for _, name := range call.Names {
				met[name]++
			}
		}
	}
	return met
}

// wantEachOnce fails unless every key of a database was met exactly once.
func wantEachOnce(t *testing.T, n *fake.Node, db int) {
	t.Helper()
	met := metIn(n, db)
	if have := len(n.Table(db).Keys); len(met) != have {
		t.Errorf("%d keys were met of %d", len(met), have)
	}
	wantNoneTwice(t, met)
}

func wantNoneTwice(t *testing.T, met map[string]int) {
	t.Helper()
	twice, example := 0, ""
	for name, times := range met {
		if times > 1 {
			twice, example = twice+1, name
		}
	}
	if twice > 0 {
		t.Errorf("%d keys were met more than once, %s among them", twice, example)
	}
}

func TestWalkFromZero(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 900, time.Minute)
		n.Put(0, "limit:stuck:%d", 40, 0)
		n.Put(0, "page:%d", 60, 2*time.Hour)
		result := sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1))
		wantEachOnce(t, n, 0)
		if first := n.Log("scan")[0].Cursors[0]; first != 0 {
			t.Errorf("a walk of a server not yet known began at cursor %d", first)
		}
		if result.Examined != 1000 || result.Share != 1 || !result.Databases[0].Walked {
			t.Errorf("examined %d keys, a share of %v, walked: %v", result.Examined, result.Share, result.Databases[0].Walked)
		}
		g := mustGroup(t, result, 0, "limit")
		if g.Keys != 940 || g.WithoutTTL != 40 || g.Zombies.Keys != 40 || g.Zombies.Interval != (estimate.Interval{Lower: 40.0 / 940, Upper: 40.0 / 940}) {
			t.Errorf("the figures are not exact: %+v %+v", g, *g.Zombies)
		}
	})
}

// TestWalkFromAnywhere has many tables, tiny and sparse ones too, walked from
// many places: the end of the round and the seam lie everywhere.
func TestWalkFromAnywhere(t *testing.T) {
	for _, table := range []struct{ keys, bits int }{
		{0, 2}, {1, 2}, {3, 2}, {20, 2}, {90, 7}, {99, 3}, {100, 7}, {101, 7}, {250, 8}, {2, 12}, {30, 13}, {300, 14}, {3000, 11},
	} {
		t.Run(fmt.Sprintf("%d keys in %d buckets", table.keys, 1<<table.bits), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Put(0, "limit:%d", table.keys, 0)
				n.Resize(0, table.bits)
				for seed := range uint64(100) {
					n.Forget()
					s := newSweeper(targetOf(t, ""), n, seed)
					s.capabilities.Permit("random_cursor")
					result := sweepOf(t, s)
					wantEachOnce(t, n, 0)
					if result.Examined != int64(table.keys) {
						t.Errorf("examined %d keys", result.Examined)
					}
					if t.Failed() {
						t.Fatalf("with seed %d", seed)
					}
				}
			})
		})
	}
}

func TestWalkOfAKeyspaceThatChanges(t *testing.T) {
	for name, change := range map[string]func(n *fake.Node){
		"the table grows":   func(n *fake.Node) { n.Resize(0, 14) },
		"the table shrinks": func(n *fake.Node) { n.Resize(0, 9) },
		"keys are added":    func(n *fake.Node) { n.Put(0, "late:%d", 1500, time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				for seed := range uint64(6) {
					n := fake.NewNode(t)
					n.Put(0, "limit:%d", 2000, 0)
					scans := 0
					n.Script(func(_ context.Context, call fake.Call) error {
						if call.Command == "scan" {
							if scans++; scans == 8 {
								change(n)
							}
						}
						return nil
					})
					s := newSweeper(targetOf(t, "limit=limit:*"), n, seed)
					s.capabilities.Permit("random_cursor")
					result := sweepOf(t, s)
					met, twice := metIn(n, 0), 0
					for i := range 2000 {
						switch times := met[fmt.Sprintf("limit:%d", i)]; {
						case times == 0:
							t.Fatalf("seed %d: limit:%d was there all the time and not met", seed, i)
						case times > 1:
							twice++
						}
					}
					// A smaller table has larger buckets: the one a cursor points into is met again.
					if twice > 20 || name != "the table shrinks" && twice > 0 {
						t.Errorf("seed %d: %d keys were met twice", seed, twice)
					}
					if g := mustGroup(t, result, 0, "limit"); g.WithoutTTL != 2000 {
						t.Errorf("seed %d: %v keys without TTL", seed, g.WithoutTTL)
					}
				}
			})
		})
	}
}

// TestWalkSparesExpiry: a long walk rests on servers whose active expiry it
// would stop, and nowhere else.
func TestWalkSparesExpiry(t *testing.T) {
	for _, server := range []struct {
		version, role string
		rests         bool
	}{
		{"7.0.15", "master", false},
		{"7.2.0", "slave", false},
		{"7.2.0", "master", true},
		{"8.0.3", "master", true},
		{"", "master", true},
	} {
		t.Run(server.role+" "+server.version, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Say("redis_version", server.version)
				n.Say("role", server.role)
				n.Put(0, "limit:%d", 4000, time.Hour)
				n.Put(1, "limit:%d", 4000, time.Hour)
				n.Delay("scan", 100*time.Millisecond) // with its pause: a second a page
				sweepOf(t, newSweeper(targetOf(t, ""), n, 1))
				rests, run := 0, time.Duration(0)
				calls := n.Log("scan")
				for i := range calls[1:] {
					gap := calls[i+1].At.Sub(calls[i].At)
					if gap < 20*time.Second+900*time.Millisecond { // the rest comes on top of the pause
						run += gap
					} else {
						rests++
						run = 0
					}
					if server.rests && run > 11*time.Second+500*time.Millisecond {
						t.Fatalf("walked for %v without a rest", run)
					}
				}
				if server.rests != (rests > 0) {
					t.Errorf("%d rests", rests)
				}
			})
		})
	}
}

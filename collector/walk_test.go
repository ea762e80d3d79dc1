// Walks: from 0, from a random place, on a server that must be spared, and part
// by part where cursors are no places. Samples are in sample_test.go.

package collector

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// metIn counts how often each name of a database was met: asked for its TTL
// while a sweep went through the keys, before it looked again.
func metIn(n *fakeNode, db int) map[string]int {
	met := map[string]int{}
	infos := 0
	for _, call := range n.log("") {
		if call.command == "connect" {
			infos = 0
		}
		if call.command == "info" {
			infos++
		}
		if call.command == "pttl" && call.db == db && infos == 1 {
			for _, name := range call.names {
				met[name]++
			}
		}
	}
	return met
}

// wantEachOnce fails unless every key of a database was met exactly once.
func wantEachOnce(t *testing.T, n *fakeNode, db int) {
	t.Helper()
	met := metIn(n, db)
	if have := len(n.tables[db].keys); len(met) != have {
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
		n := newFakeNode(t)
		n.put(0, "limit:%d", 900, time.Minute)
		n.put(0, "limit:stuck:%d", 40, 0)
		n.put(0, "page:%d", 60, 2*time.Hour)
		result := sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1))
		wantEachOnce(t, n, 0)
		if first := n.log("scan")[0].cursors[0]; first != 0 {
			t.Errorf("a walk of a server not yet known began at cursor %d", first)
		}
		if result.examined != 1000 || result.share != 1 || !result.databases[0].walked {
			t.Errorf("examined %d keys, a share of %v, walked: %v", result.examined, result.share, result.databases[0].walked)
		}
		g := mustGroup(t, result, 0, "limit")
		if g.Keys != 940 || g.WithoutTTL != 40 || g.Zombies.Keys != 40 || g.Zombies.Interval != (Interval{40.0 / 940, 40.0 / 940}) {
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
				n := newFakeNode(t)
				n.put(0, "limit:%d", table.keys, 0)
				n.resize(0, table.bits)
				for seed := range uint64(100) {
					n.forget()
					s := newSweeper(targetOf(t, ""), n, seed)
					s.capabilities.permit("random_cursor")
					result := sweepOf(t, s)
					wantEachOnce(t, n, 0)
					if result.examined != int64(table.keys) {
						t.Errorf("examined %d keys", result.examined)
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
	for name, change := range map[string]func(n *fakeNode){
		"the table grows":   func(n *fakeNode) { n.resize(0, 14) },
		"the table shrinks": func(n *fakeNode) { n.resize(0, 9) },
		"keys are added":    func(n *fakeNode) { n.put(0, "late:%d", 1500, time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				for seed := range uint64(6) {
					n := newFakeNode(t)
					n.put(0, "limit:%d", 2000, 0)
					scans := 0
					n.script(func(_ context.Context, call fakeCall) error {
						if call.command == "scan" {
							if scans++; scans == 8 {
								change(n)
							}
						}
						return nil
					})
					s := newSweeper(targetOf(t, "limit=limit:*"), n, seed)
					s.capabilities.permit("random_cursor")
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
				n := newFakeNode(t)
				n.say("redis_version", server.version)
				n.say("role", server.role)
				n.put(0, "limit:%d", 4000, time.Hour)
				n.put(1, "limit:%d", 4000, time.Hour)
				n.delay("scan", 100*time.Millisecond) // with its pause: a second a page
				sweepOf(t, newSweeper(targetOf(t, ""), n, 1))
				rests, run := 0, time.Duration(0)
				calls := n.log("scan")
				for i := range calls[1:] {
					gap := calls[i+1].at.Sub(calls[i].at)
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

// opaqueCursors are two kinds of cursors that are no places: scrambled ones, and
// those that count up.
var opaqueCursors = map[string]func(place) uint64{
	"scrambled": func(p place) uint64 { return hashOf(strconv.FormatUint(uint64(p), 16)) },
	"counting":  func(p place) uint64 { return uint64(p) >> 48 }, // the buckets of a table of 2^16
}

// TestOpaqueCursors: a keyspace above the budget is walked part by part, each
// sweep going on where the last one ended.
func TestOpaqueCursors(t *testing.T) {
	for name, opaque := range opaqueCursors {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := newFakeNode(t)
				n.opaque = opaque
				n.put(0, "limit:%d", 5000, time.Hour)
				target := targetOf(t, "limit=limit:*")
				target.Sweep.MaxKeys = 500
				s := newSweeper(target, n, 1)
				met := map[string]int{}
				for round := range 9 {
					n.forget()
					result := sweepOf(t, s)
					if !s.capabilities.is("random_cursor", refused) {
						t.Fatalf("sweep %d trusts random cursors", round+1)
					}
					if n := result.examined; n < 500 || n > 515 {
						t.Errorf("sweep %d counts %d keys, its budget is 500", round+1, n)
					}
					if want := float64(result.examined) / 5000; result.databases[0].share != want {
						t.Errorf("sweep %d covers %v, want %v", round+1, result.databases[0].share, want)
					}
					if g := mustGroup(t, result, 0, "limit"); g.Keys < 4999 || g.Keys > 5001 {
						t.Errorf("sweep %d estimates %v keys of 5000", round+1, g.Keys)
					}
					if round > 0 { // the first one began with a sample, to find out
						for name, times := range metIn(n, 0) {
							met[name] += times
						}
					}
				}
				wantNoneTwice(t, met)
				if len(met) < 4000 {
					t.Errorf("eight sweeps of 500 keys met %d", len(met))
				}
			})
		})
	}
}

// TestOpaqueCursorsOfASmallKeyspace: every walk meets each key once.
func TestOpaqueCursorsOfASmallKeyspace(t *testing.T) {
	for name, opaque := range opaqueCursors {
		for _, count := range []int{100, 400} {
			t.Run(fmt.Sprintf("%s, COUNT %d", name, count), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					n := newFakeNode(t)
					n.opaque = opaque
					target := targetOf(t, "")
					target.Sweep.ScanCount = count
					for keys := 1200; keys < 2000; keys += 25 { // a few pages may happen to lead forward
						n.put(0, "limit:%d", keys, time.Hour)
						s := newSweeper(target, n, 3)
						for range 3 {
							n.forget()
							sweepOf(t, s)
							wantEachOnce(t, n, 0)
						}
					}
				})
			})
		}
	}
}

// TestOpaqueCursorsOfASmallBudget: ten pages are enough to know.
func TestOpaqueCursorsOfASmallBudget(t *testing.T) {
	for name, opaque := range opaqueCursors {
		bubble(t, func(t *testing.T) {
			n := newFakeNode(t)
			n.opaque = opaque
			for keys := 200; keys < 800; keys += 10 {
				n.put(0, "limit:%d", keys, time.Hour)
				s := newSweeper(sampledTarget(t, "", 100), n, 1)
				if result := sweepOf(t, s); !s.capabilities.is("random_cursor", refused) || result.examined > 115 {
					t.Errorf("%s cursors, %d keys: met %d; random cursors are trusted", name, keys, result.examined)
				}
			}
		})
	}
}

func TestResumedWalkEndsInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.opaque = opaqueCursors["scrambled"]
		n.put(0, "limit:%d", 5000, time.Hour)
		n.delay("scan", 200*time.Millisecond) // with its pause: two seconds a page
		target := targetOf(t, "")
		target.Sweep.MaxKeys = 3000
		s := newSweeper(target, n, 1)
		s.capabilities.refuse("random_cursor")
		start := time.Now()
		result := sweepOf(t, s)
		if took := time.Since(start); took > 22*time.Second || result.examined < 900 || result.examined > 1200 {
			t.Errorf("met %d keys in %v, want those of a third of a minute", result.examined, took)
		}
	})
}

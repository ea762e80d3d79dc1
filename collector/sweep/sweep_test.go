// A sweep as a whole: which databases it meets and how, what ends it, and what
// it does without what a server refuses. The ways to meet a database are in
// walk_test.go and sample_test.go.

package sweep

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

func TestWalksHysteresis(t *testing.T) {
	for _, test := range []struct {
		budget int64
		walked bool // the last time
		keys   int64
		want   bool
	}{
		{100, false, 0, true}, {100, false, 150, true}, {100, false, 151, false}, {100, false, 200, false},
		{100, true, 150, true}, {100, true, 151, true}, {100, true, 200, true}, {100, true, 201, false},
		{0, false, 1e12, true}, {0, true, 1e12, true},
	} {
		s := newSweeper(sampledTarget(t, "", test.budget), fake.NewNode(t), 1)
		s.walked[3] = test.walked
		if got := s.walks(3, test.keys); got != test.want {
			t.Errorf("%d keys, budget %d, walked before: %v: walks is %v", test.keys, test.budget, test.walked, got)
		}
	}
}

// TestHysteresisFromSweepToSweep lets a database grow and shrink around its
// budget of 100.
func TestHysteresisFromSweepToSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		s := newSweeper(sampledTarget(t, "", 100), n, 1)
		keys := 0
		for _, step := range []struct {
			keys   int
			walked bool
		}{{150, true}, {200, true}, {201, false}, {200, false}, {151, false}, {150, true}, {180, true}, {0, true}} {
			for ; keys < step.keys; keys++ {
				n.Set(0, "limit:"+strconv.Itoa(keys), time.Hour)
			}
			for ; keys > step.keys; keys-- {
				n.Remove(0, "limit:"+strconv.Itoa(keys-1))
			}
			if got := sweepOf(t, s).Databases[0].Walked; got != step.walked {
				t.Errorf("%d keys: walked is %v", step.keys, got)
			}
		}
	})
}

func TestDatabases(t *testing.T) {
	for _, test := range []struct {
		name       string
		configured []int
		want       []int // with figures
		selected   []int
	}{
		{"all", nil, []int{0, 2, 5, 7}, []int{0, 2, 5, 7}},
		{"some", []int{7, 2, 3}, []int{2, 3, 7}, []int{2, 3, 7}},
		{"database 0 only", []int{0}, []int{0}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				for _, db := range []int{0, 2, 5, 7} {
					n.Put(db, "limit:%d", 10+db, 0)
				}
				target := targetOf(t, "limit=limit:*@1h")
				target.Databases, target.Sweep.MemorySamples = test.configured, 0
				result := sweepOf(t, newSweeper(target, n, 1))
				databases, groups := estimate.Figures(&result.Counted)
				var dbs []int
				for _, d := range databases {
					dbs = append(dbs, d.DB)
				}
				if !slices.Equal(dbs, test.want) {
					t.Errorf("figures of the databases %v, want %v", dbs, test.want)
				}
				for _, d := range result.Databases {
					if g := groupOf(groups, d.DB, "limit"); g != nil && (g.Keys != float64(d.Before.Keys) || g.Zombies.Keys != g.Keys) {
						t.Errorf("database %d: %+v of %d keys", d.DB, *g.Zombies, d.Before.Keys)
					}
				}
				var selected []int
				for _, call := range n.Log("select") {
					selected = append(selected, call.DB)
				}
				slices.Sort(selected)
				if selected = slices.Compact(selected); !slices.Equal(selected, test.selected) {
					t.Errorf("selected %v, want %v", selected, test.selected)
				}
			})
		})
	}
}

// TestDatabaseThatEmptied stays, at 0.
func TestDatabaseThatEmptied(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Set(4, "limit:a", 0)
		s := newSweeper(targetOf(t, "limit=limit:*"), n, 1)
		sweepOf(t, s)
		n.Remove(4, "limit:a")
		databases, groups := estimate.Figures(&sweepOf(t, s).Counted)
		if len(databases) != 2 || databases[1].DB != 4 || databases[1].Keys != 0 || !databases[1].Sized {
			t.Errorf("databases: %+v", databases)
		}
		if groupOf(groups, 4, "limit") != nil || groupOf(groups, 0, "limit") == nil {
			t.Error("a rule is present in database 0 and where there are keys, nowhere else")
		}
	})
}

// TestDatabasesShareTheTimeOfSamples: three that are too large for their time
// get a third of it each; one that is walked needs none.
func TestDatabasesShareTheTimeOfSamples(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		for _, db := range []int{0, 3, 6} {
			n.Put(db, "limit:%d", 4000, time.Hour)
		}
		n.Put(4, "limit:%d", 50, time.Hour)
		n.Delay("scan", 100*time.Millisecond) // with its pause: a second a batch of 100 keys
		target := sampledTarget(t, "", 2000)
		target.Sweep.Interval = 90 * time.Second
		result := sweepOf(t, newSweeper(target, n, 1))
		for _, d := range result.Databases {
			if d.DB == 4 {
				continue
			}
			if met := d.Met(); d.Walked || met < 800 || met > 1400 {
				t.Errorf("database %d: met %v keys, want those of about 10 s; walked: %v", d.DB, met, d.Walked)
			}
		}
	})
}

func TestSweepTimeout(t *testing.T) {
	for _, command := range []string{"connect", "info", "scan", "pttl", "memory"} {
		t.Run(command, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Put(0, "limit:%d", 10, 0)
				n.Script(func(ctx context.Context, call fake.Call) error {
					if call.Command == command {
						return fake.Hang(ctx)
					}
					return nil
				})
				target := targetOf(t, "limit=limit:*")
				target.Sweep.Timeout = 7 * time.Second
				start := time.Now()
				if reason := failureOfSweep(t, newSweeper(target, n, 1)); reason != source.ReasonTimeout {
					t.Errorf("the reason is %s", reason)
				}
				if took := time.Since(start); took != 7*time.Second {
					t.Errorf("took %v", took)
				}
				if open, _ := n.Connections(); open != 0 {
					t.Error("the connection was left open")
				}
			})
		})
	}
}

// TestSweepFails: a command that goes wrong fails the sweep with its reason.
func TestSweepFails(t *testing.T) {
	for _, command := range []string{"connect", "ping", "info", "select", "scan", "pttl", "time", "memory"} {
		for _, reply := range []string{"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script"} {
			t.Run(command, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					n := fake.NewNode(t)
					n.Put(2, "limit:%d", 10, 0)
					n.Script(func(_ context.Context, call fake.Call) error {
						if call.Command == command {
							return source.Refusal(reply)
						}
						return nil
					})
					want := source.Refusal(reply).Reason
					if reason := failureOfSweep(t, newSweeper(targetOf(t, "limit=limit:*"), n, 1)); reason != want {
						t.Errorf("the reason is %s, want %s", reason, want)
					}
				})
			})
		}
	}
}

// TestSweepRefusesModes: what would be counted wrongly is not counted.
func TestSweepRefusesModes(t *testing.T) {
	for mode, want := range map[string]string{"cluster": source.ReasonCluster, "sentinel": source.ReasonRefused} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			n.Say("redis_mode", mode)
			greeted := false
			_, err := newSweeper(targetOf(t, ""), n, 1).sweep(t.Context(), func(source.Info, time.Duration) { greeted = true })
			if err == nil || source.ReasonOf(err) != want {
				t.Errorf("%s: %v", mode, err)
			}
			if !greeted {
				t.Errorf("%s: INFO was answered and not told", mode)
			}
			if len(n.Log("scan")) > 0 {
				t.Errorf("%s: keys were met", mode)
			}
		})
	}
}

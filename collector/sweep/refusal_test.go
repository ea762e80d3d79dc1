// What a sweep does without what a server refuses, keeps from us or does not
// tell. Failures that end a sweep are in sweep_test.go.

package sweep

import (
	"context"
	"strconv"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// TestRefusedCommand: what a sweep cannot do without fails it, and a capability
// says so; without the rest it goes on.
func TestRefusedCommand(t *testing.T) {
	for command, test := range map[string]struct {
		capability string
		fails      bool
	}{
		"info":   {"info", true},
		"scan":   {"scan", true},
		"pttl":   {"pttl", true},
		"ping":   {"ping", false},
		"time":   {"time", false},
		"memory": {"memory_usage", false},
	} {
		t.Run(command, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Put(0, "limit:%d", 50, 0)
				n.Deny(command, true)
				s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
				if test.fails {
					if reason := failureOfSweep(t, s); reason != source.ReasonNoPermission {
						t.Errorf("the reason is %s", reason)
					}
				} else if g := mustGroup(t, sweepOf(t, s), 0, "limit"); g.Zombies.Keys != 50 {
					t.Errorf("%v zombies", g.Zombies.Keys)
				}
				if !s.capabilities.Refuses(test.capability) {
					t.Errorf("%s does not count as refused", test.capability)
				}
				n.Deny(command, false)
				if g := mustGroup(t, sweepOf(t, s), 0, "limit"); g.Zombies.Keys != 50 || g.Memory == nil {
					t.Errorf("after the permission was given: %+v", g)
				}
				if !s.capabilities.Permits(test.capability) {
					t.Errorf("%s does not count as permitted again", test.capability)
				}
			})
		})
	}
}

// TestRefusedSelect: databases that cannot be selected have no series, and no 0
// either.
func TestRefusedSelect(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 50, 0)
		n.Put(3, "limit:%d", 20, 0)
		n.Deny("select", true)
		s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
		databases, groups := estimate.Figures(&sweepOf(t, s).Counted)
		if len(databases) != 1 || groupOf(groups, 0, "limit").Keys != 50 || groupOf(groups, 3, "limit") != nil {
			t.Errorf("%d databases, %d groups", len(databases), len(groups))
		}
		if !s.capabilities.Refuses("select") {
			t.Error("select does not count as refused")
		}
	})
}

// TestRefusedSelectOfAll: where no database can be met, nothing was.
func TestRefusedSelectOfAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(2, "limit:%d", 70, 0)
		n.Deny("select", true)
		target := targetOf(t, "limit=limit:*@60s")
		target.Databases = []int{2}
		if reason := failureOfSweep(t, newSweeper(target, n, 1)); reason != source.ReasonNoPermission {
			t.Errorf("the reason is %s", reason)
		}
	})
}

// TestRefusedCommandHidesNoFailure: a command that was once refused and then
// breaks the connection fails the sweep.
func TestRefusedCommandHidesNoFailure(t *testing.T) {
	for _, command := range []string{"time", "memory"} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			n.Put(0, "limit:%d", 5, 0)
			n.Deny(command, true)
			s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
			sweepOf(t, s)
			n.Script(func(_ context.Context, call fake.Call) error {
				if call.Command == command {
					return fake.CutError()
				}
				return nil
			})
			if reason := failureOfSweep(t, s); reason != source.ReasonUnreachable {
				t.Errorf("%s: the reason is %s", command, reason)
			}
		})
	}
}

// TestForbiddenKeys: an ACL that keeps some keys from us takes them out of the
// figures, in whatever database they are; none of it turns into a 0.
func TestForbiddenKeys(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 30, 0)
		n.Put(0, "limit:fresh:%d", 70, time.Minute)
		n.Put(0, "secret:%d", 200, 0)
		n.Put(1, "limit:%d", 10, 0)
		n.Forbid("secret:")
		s := newSweeper(targetOf(t, "limit=limit:*@60s,secret=secret:*,none=none:*"), n, 1)
		result := sweepOf(t, s)
		_, groups := estimate.Figures(&result.Counted)
		if g := groupOf(groups, 0, "limit"); g.Keys != 100 || g.WithoutTTL != 30 || g.Zombies.Keys != 30 {
			t.Errorf("the keys that can be read: %+v %+v", *g, *g.Zombies)
		}
		if g := groupOf(groups, 0, "secret"); g != nil {
			t.Errorf("a group that cannot be read has figures: %+v", *g)
		}
		if g := groupOf(groups, 0, "none"); g == nil || g.Keys != 0 || g.Zombies.Keys != 0 {
			t.Error("a group without keys is not at 0")
		}
		if !s.capabilities.Refuses("pttl") {
			t.Error("pttl does not count as refused: another database's keys made up for it")
		}
		n.Forbid("")
		if g := mustGroup(t, sweepOf(t, s), 0, "secret"); g.Zombies.Keys != 200 || !s.capabilities.Permits("pttl") {
			t.Errorf("after the permission was given: %+v", *g.Zombies)
		}
	})
}

// TestServerClockUnknown: without TIME nothing is said of leaks.
func TestServerClockUnknown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Skew = 10 * 365 * 24 * time.Hour
		n.Set(0, "limit:a:1000000000:x", 0) // 2001: past by the server's clock only
		n.Deny("time", true)
		s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
		if result := sweepOf(t, s); !result.Now.IsZero() || mustGroup(t, result, 0, "limit").Zombies.Leaked != 0 {
			t.Error("leaks are judged by a clock that is not the server's")
		}
		n.Deny("time", false)
		if result := sweepOf(t, s); result.Now.IsZero() || mustGroup(t, result, 0, "limit").Zombies.Leaked != 1 {
			t.Error("a leak is not found by the server's clock")
		}
	})
}

// TestNoKeyspace: a server that tells no sizes is walked, and its figures are
// what was counted.
func TestNoKeyspace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.NoKeyspace = true
		n.Put(0, "limit:%d", 300, 0)
		n.Put(0, "page:%d", 700, time.Hour)
		result := sweepOf(t, newSweeper(sampledTarget(t, "limit=limit:*", 100), n, 1))
		wantEachOnce(t, n, 0)
		databases, _ := estimate.Figures(&result.Counted)
		if databases[0].Sized || len(result.Garbage()) > 0 {
			t.Errorf("sizes that nobody told: %+v", databases[0])
		}
		if g := mustGroup(t, result, 0, "limit"); g.Keys != 300 || g.Zombies.Ratio != 1 {
			t.Errorf("%+v %+v", g, *g.Zombies)
		}
		if g := mustGroup(t, result, 0, classify.OtherGroup); g.Keys != 700 || g.WithoutTTL != 0 {
			t.Errorf("%+v", g)
		}
	})
}

// TestKeysGone: what expires or vanishes between SCAN and PTTL is no key.
func TestKeysGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 40, 0)
		n.Put(0, "limit:short:%d", 20, time.Second)
		n.Script(func(ctx context.Context, call fake.Call) error {
			if call.Command == "pttl" && time.Now().Second() < 5 {
				for i := range 10 {
					n.Remove(0, "limit:"+strconv.Itoa(i))
				}
				return sleep(ctx, 5*time.Second)
			}
			return nil
		})
		result := sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1))
		g := mustGroup(t, result, 0, "limit")
		if result.Examined != 30 || g.Examined != 30 || g.Keys != 30 || g.Zombies.Keys != 30 {
			t.Errorf("examined %d: %+v %+v", result.Examined, g, *g.Zombies)
		}
		if u := estimate.Unreclaimed(result.Databases[0]); u == nil || *u != 0.4 { // 20 of the 50 that INFO counts
			t.Errorf("unreclaimed: %v", u)
		}
	})
}

// The sizes of keys: which are asked for, how many, and what is made of them.
// The scaling alone is in package estimate.

package sweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
)

// sizedKeys puts keys of a size; ttl 0: none.
func sizedKeys(n *fake.Node, format string, count int, size int64, ttl time.Duration) {
	for i := range count {
		k := fake.Key{Bytes: size}
		if ttl > 0 {
			k.Expires = n.Now().Add(ttl)
		}
		n.Add(0, fmt.Sprintf(format, i), k)
	}
}

// TestMemory: the mean sizes of the keys with a TTL, of those without and of the
// zombies are each scaled on their own number.
func TestMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		sizedKeys(n, "limit:%d", 800, 70, time.Hour)
		sizedKeys(n, "limit:stuck:%d", 200, 110, 0)
		sizedKeys(n, "flag:%d", 300, 1000, 0)
		sizedKeys(n, "page:%d", 60, 5000, time.Hour)
		sizedKeys(n, "page:old:%d", 40, 7000, 0)
		result := sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@1h,flag=flag:*@persistent,none=none:*"), n, 1))
		for name, want := range map[string]estimate.Memory{
			"limit":             {Keys: 800*70 + 200*110, Zombies: 200 * 110},
			"flag":              {Keys: 300 * 1000},
			classify.OtherGroup: {Keys: 60*5000 + 40*7000},
			"none":              {},
		} {
			if g := mustGroup(t, result, 0, name); g.Memory == nil || *g.Memory != want {
				t.Errorf("%s: %+v, want %+v", name, g.Memory, want)
			}
		}
	})
}

// TestMemoryIsBounded: at most the configured calls a group, ten a write, half
// of them for keys without TTL where there are enough of both.
func TestMemoryIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		sizedKeys(n, "limit:%d", 300, 70, time.Hour)
		sizedKeys(n, "limit:stuck:%d", 300, 110, 0)
		sizedKeys(n, "few:%d", 5, 70, time.Hour)
		sizedKeys(n, "few:stuck:%d", 300, 110, 0)
		target := targetOf(t, "limit=limit:*@1h,few=few:*@1h")
		target.Sweep.MemorySamples, target.Sweep.BigKeys.Budget = 40, 0
		sweepOf(t, newSweeper(target, n, 1))
		asked := map[string]int{}
		for _, call := range n.Log("memory") {
			if len(call.Names) > 10 {
				t.Errorf("%d in one write", len(call.Names))
			}
			for _, name := range call.Names {
				asked[strings.TrimRight(name, "0123456789")]++
			}
		}
		if asked["limit:"] != 20 || asked["limit:stuck:"] != 20 || asked["few:"] != 5 || asked["few:stuck:"] != 35 {
			t.Errorf("asked the sizes of %v", asked)
		}
	})
}

// TestMemoryOfKeysGone: a key that is gone has no size, and counts for none.
func TestMemoryOfKeysGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		sizedKeys(n, "limit:%d", 20, 70, time.Hour)
		sizedKeys(n, "limit:short:%d", 20, 70, time.Second)
		sizedKeys(n, "limit:stuck:%d", 1, 110, 0) // the second look at it takes longer than a second
		g := mustGroup(t, sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@1h"), n, 1)), 0, "limit")
		if g.Keys != 41 || g.Memory.Keys != 40*70+110 {
			t.Errorf("%v keys, %+v", g.Keys, *g.Memory)
		}
	})
}

func TestMemoryOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 20, 0)
		target := targetOf(t, "limit=limit:*@1h")
		target.Sweep.MemorySamples, target.Sweep.BigKeys.Budget = 0, 0
		s := newSweeper(target, n, 1)
		if g := mustGroup(t, sweepOf(t, s), 0, "limit"); g.Memory != nil || len(n.Log("memory")) > 0 {
			t.Error("sizes were asked for")
		}
		for _, c := range s.capabilities.List() {
			if c.Name == "memory_usage" {
				t.Error("says something of a permission that it does not use")
			}
		}
	})
}

// TestMemoryRefused: one key whose size is refused, or the command itself, takes
// the sizes of the sweep away; the next sweep asks again, whatever group comes
// first.
func TestMemoryRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		sizedKeys(n, "limit:%d", 20, 70, time.Hour)
		n.Deny("memory", true)
		s := newSweeper(targetOf(t, "none=none:*,limit=limit:*@1h"), n, 1)
		if g := mustGroup(t, sweepOf(t, s), 0, "limit"); g.Memory != nil {
			t.Errorf("sizes from nowhere: %+v", *g.Memory)
		}
		if calls := len(n.Log("memory")); calls != 1 {
			t.Errorf("was refused %d times in one sweep", calls)
		}
		n.Deny("memory", false)
		if g := mustGroup(t, sweepOf(t, s), 0, "limit"); g.Memory == nil || g.Memory.Keys != 20*70 {
			t.Errorf("after the permission was given: %+v", g.Memory)
		}
	})
}

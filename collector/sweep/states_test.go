package sweep

import (
	"strings"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/spec"
)

// limited is a group with a limit of 5.
func limited(t *testing.T, counts classify.Direction) spec.Target {
	target := targetOf(t, "")
	target.Rules = []classify.Rule{{Name: "limit", Match: classify.Globs{"limit:*"}, Window: classify.Duration(time.Minute), Limit: 5, Counts: counts}}
	target.Sweep.BigKeys.Budget = 0
	return target
}

// TestLockedOut: the state of each zombie is compared with the limit; a key with
// a TTL is none.
func TestLockedOut(t *testing.T) {
	zombies := map[string]fake.Key{
		"at":       {Value: "5"},
		"above":    {Value: "6"},
		"float":    {Value: "5.5"},
		"below":    {Value: "4"},
		"zero":     {Value: "0"},
		"negative": {Value: "-1"},
		"text":     {Value: "many"},
		"nan":      {Value: "NaN"},
		"json":     {Value: `{"count": 9}`},
		"long":     {Value: "9", Bytes: longestState + 100},
		"list":     {KeyType: "list", Length: 5},
		"zset":     {KeyType: "zset", Length: 7},
		"short":    {KeyType: "zset", Length: 2},
		"hash":     {KeyType: "hash", Length: 9},
		"unknown":  {KeyType: "gcra"},
	}
	for _, test := range []struct {
		counts classify.Direction
		out    float64
	}{
		{classify.Up, 5},   // at, above, float, list, zset
		{classify.Down, 2}, // zero, negative
	} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			for name, k := range zombies {
				n.Add(0, "limit:"+name, k)
			}
			n.Set(0, "limit:healthy", 30*time.Second)
			g := mustGroup(t, sweepOf(t, newSweeper(limited(t, test.counts), n, 1)), 0, "limit")
			if z := g.Zombies; z.Keys != float64(len(zombies)) || z.LockedOut != test.out || !z.StatesKnown {
				t.Errorf("counting %s: %+v, want %v locked out", test.counts, *z, test.out)
			}
			for _, call := range n.Log("get") {
				for _, name := range call.Names {
					if name == "limit:long" || name == "limit:healthy" || name == "limit:list" {
						t.Errorf("the value of %s was read", name)
					}
				}
			}
		})
	}
}

// TestStatesAreRead only where a limit allows it, and only so many.
func TestStatesAreRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "other:%d", 30, 0)
		for i := range 3 * mostStates {
			n.Add(0, "limit:"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), fake.Key{Value: []string{"9", "1", "1"}[i%3]})
		}
		target := limited(t, classify.Up)
		target.Rules = append(target.Rules, classify.Rule{Name: "other", Match: classify.Globs{"other:*"}})
		result := sweepOf(t, newSweeper(target, n, 1))
		read := map[string]bool{}
		for _, call := range n.Log("get") {
			for _, name := range call.Names {
				if !strings.HasPrefix(name, "limit:") || read[name] {
					t.Errorf("%s was read, or read twice", name)
				}
				read[name] = true
			}
		}
		z := mustGroup(t, result, 0, "limit").Zombies
		if len(read) != mostStates || z.LockedOut < mostStates*0.85 || z.LockedOut > mostStates*1.15 {
			t.Errorf("%d states were read, %v of %v are locked out, want about a third", len(read), z.LockedOut, z.Keys)
		}
		if g := mustGroup(t, result, 0, "other"); g.Limited || g.Zombies.Keys != 30 {
			t.Errorf("%+v", g)
		}
	})
}

// TestStatesRefused: what cannot be judged is unknown, not 0; the next sweep asks
// again.
func TestStatesRefused(t *testing.T) {
	for command, capability := range map[string]string{"type": "type", "get": "get", "memory": "memory_usage"} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			for _, name := range []string{"a", "b", "c"} {
				n.Add(0, "limit:"+name, fake.Key{Value: "9"})
			}
			n.Deny(command, true)
			s := newSweeper(limited(t, classify.Up), n, 1)
			if z := mustGroup(t, sweepOf(t, s), 0, "limit").Zombies; z.Keys != 3 || z.StatesKnown {
				t.Errorf("%s refused: %+v", command, *z)
			}
			if !s.capabilities.Refuses(capability) {
				t.Errorf("%s does not count as refused", capability)
			}
			n.Deny(command, false)
			if z := mustGroup(t, sweepOf(t, s), 0, "limit").Zombies; z.LockedOut != 3 || !z.StatesKnown {
				t.Errorf("%s permitted again: %+v", command, *z)
			}
		})
	}
}

// TestStatesOfOtherKinds: where most states cannot be compared with the limit, who
// is locked out is unknown, not 0.
func TestStatesOfOtherKinds(t *testing.T) {
	for texts, known := range map[int]bool{1: true, 10: true, 11: false, 99: false} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			for i := range 10 {
				n.Add(0, "limit:n"+time.Duration(i).String(), fake.Key{Value: "9"})
			}
			for i := range texts {
				n.Add(0, "limit:t"+time.Duration(i).String(), fake.Key{Value: `{"n":50}`})
			}
			if z := mustGroup(t, sweepOf(t, newSweeper(limited(t, classify.Up), n, 1)), 0, "limit").Zombies; z.StatesKnown != known {
				t.Errorf("10 numbers and %d texts: %+v", texts, *z)
			}
		})
	}
}

// TestNoTouch is sent to servers that know it, and only before something is read.
func TestNoTouch(t *testing.T) {
	for version, want := range map[string]int{"7.0.15": 0, "7.2.0": 1, "8.0.1": 1} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			n.Put(0, "limit:%d", 300, 0)
			n.Say("redis_version", version)
			sweepOf(t, newSweeper(limited(t, classify.Up), n, 1))
			sent, read := n.Log("no-touch"), n.Log("get")
			if len(sent) != want || len(read) == 0 || want > 0 && sent[0].At.After(read[0].At) {
				t.Errorf("%s: sent %d times, or too late", version, len(sent))
			}
		})
	}
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "other:%d", 30, 0)
		n.Say("redis_version", "8.0.1")
		sweepOf(t, newSweeper(limited(t, classify.Up), n, 1))
		if len(n.Log("no-touch")) > 0 {
			t.Error("sent although nothing is read")
		}
	})
}

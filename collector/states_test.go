package collector

import (
	"strings"
	"testing"
	"time"
)

// limited is a group with a limit of 5.
func limited(t *testing.T, counts Direction) Target {
	target := targetOf(t, "")
	target.Rules = []Rule{{Name: "limit", Match: Globs{"limit:*"}, Window: Duration(time.Minute), Limit: 5, Counts: counts}}
	target.Sweep.BigKeys.Budget = 0
	return target
}

// TestLockedOut: the state of each zombie is compared with the limit; a key with
// a TTL is none.
func TestLockedOut(t *testing.T) {
	zombies := map[string]fakeKey{
		"at":       {value: "5"},
		"above":    {value: "6"},
		"float":    {value: "5.5"},
		"below":    {value: "4"},
		"zero":     {value: "0"},
		"negative": {value: "-1"},
		"text":     {value: "many"},
		"nan":      {value: "NaN"},
		"json":     {value: `{"count": 9}`},
		"long":     {value: "9", bytes: longestState + 100},
		"list":     {keyType: "list", length: 5},
		"zset":     {keyType: "zset", length: 7},
		"short":    {keyType: "zset", length: 2},
		"hash":     {keyType: "hash", length: 9},
		"unknown":  {keyType: "gcra"},
	}
	for _, test := range []struct {
		counts Direction
		out    float64
	}{
		{Up, 5},   // at, above, float, list, zset
		{Down, 2}, // zero, negative
	} {
		bubble(t, func(t *testing.T) {
			n := newFakeNode(t)
			for name, k := range zombies {
				n.add(0, "limit:"+name, k)
			}
			n.set(0, "limit:healthy", 30*time.Second)
			g := mustGroup(t, sweepOf(t, newSweeper(limited(t, test.counts), n, 1)), 0, "limit")
			if z := g.Zombies; z.Keys != float64(len(zombies)) || z.LockedOut != test.out || !z.StatesKnown {
				t.Errorf("counting %s: %+v, want %v locked out", test.counts, *z, test.out)
			}
			for _, call := range n.log("get") {
				for _, name := range call.names {
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
		n := newFakeNode(t)
		n.put(0, "other:%d", 30, 0)
		for i := range 3 * mostStates {
			n.add(0, "limit:"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), fakeKey{value: []string{"9", "1", "1"}[i%3]})
		}
		target := limited(t, Up)
		target.Rules = append(target.Rules, Rule{Name: "other", Match: Globs{"other:*"}})
		result := sweepOf(t, newSweeper(target, n, 1))
		read := map[string]bool{}
		for _, call := range n.log("get") {
			for _, name := range call.names {
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
			n := newFakeNode(t)
			for _, name := range []string{"a", "b", "c"} {
				n.add(0, "limit:"+name, fakeKey{value: "9"})
			}
			n.deny(command, true)
			s := newSweeper(limited(t, Up), n, 1)
			if z := mustGroup(t, sweepOf(t, s), 0, "limit").Zombies; z.Keys != 3 || z.StatesKnown {
				t.Errorf("%s refused: %+v", command, *z)
			}
			if !s.capabilities.is(capability, refused) {
				t.Errorf("%s does not count as refused", capability)
			}
			n.deny(command, false)
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
			n := newFakeNode(t)
			for i := range 10 {
				n.add(0, "limit:n"+time.Duration(i).String(), fakeKey{value: "9"})
			}
			for i := range texts {
				n.add(0, "limit:t"+time.Duration(i).String(), fakeKey{value: `{"n":50}`})
			}
			if z := mustGroup(t, sweepOf(t, newSweeper(limited(t, Up), n, 1)), 0, "limit").Zombies; z.StatesKnown != known {
				t.Errorf("10 numbers and %d texts: %+v", texts, *z)
			}
		})
	}
}

// TestNoTouch is sent to servers that know it, and only before something is read.
func TestNoTouch(t *testing.T) {
	for version, want := range map[string]int{"7.0.15": 0, "7.2.0": 1, "8.0.1": 1} {
		bubble(t, func(t *testing.T) {
			n := newFakeNode(t)
			n.put(0, "limit:%d", 300, 0)
			n.say("redis_version", version)
			sweepOf(t, newSweeper(limited(t, Up), n, 1))
			sent, read := n.log("no-touch"), n.log("get")
			if len(sent) != want || len(read) == 0 || want > 0 && sent[0].at.After(read[0].at) {
				t.Errorf("%s: sent %d times, or too late", version, len(sent))
			}
		})
	}
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "other:%d", 30, 0)
		n.say("redis_version", "8.0.1")
		sweepOf(t, newSweeper(limited(t, Up), n, 1))
		if len(n.log("no-touch")) > 0 {
			t.Error("sent although nothing is read")
		}
	})
}

package collector

import (
	"fmt"
	"testing"
	"time"
)

// bigTarget looks for keys of 1 MiB or 10,000 elements within a budget of calls.
func bigTarget(t *testing.T, budget int) Target {
	target := targetOf(t, "limit=limit:*@60s")
	target.Sweep.MemorySamples = 0
	target.Sweep.BigKeys.Budget = budget
	return target
}

// asked counts what was asked about keys: TYPE, MEMORY USAGE and lengths.
func (n *fakeNode) asked() (calls int, lengths map[string]bool) {
	lengths = map[string]bool{}
	for _, command := range []string{"type", "memory", "length"} {
		for _, call := range n.log(command) {
			calls += len(call.names)
			for _, name := range call.names {
				if command == "length" {
					lengths[name] = true
				}
			}
		}
	}
	return calls, lengths
}

// TestBigKeys: a key is big by its memory or by its elements; lengths are asked
// only where the memory allows for so many.
func TestBigKeys(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.add(0, "limit:string", fakeKey{bytes: 1 << 20})
		n.add(0, "limit:almost", fakeKey{bytes: 1<<20 - 1})
		n.add(0, "limit:list", fakeKey{keyType: "list", length: 10_000, bytes: 20_000})
		n.add(0, "limit:zset", fakeKey{keyType: "zset", length: 9_999, bytes: 500_000})
		n.add(0, "limit:small", fakeKey{keyType: "hash", length: 10_000, bytes: 19_999}) // cannot be
		n.add(0, "limit:module", fakeKey{keyType: "module-x", bytes: 1 << 21})
		n.add(0, "other", fakeKey{bytes: 1 << 22})
		s := newSweeper(bigTarget(t, 1000), n, 1)
		result := sweepOf(t, s)
		if big := mustGroup(t, result, 0, "limit").Big; big == nil || *big != (BigKeys{3, 1 << 21}) {
			t.Errorf("limit has %+v", big)
		}
		if big := mustGroup(t, result, 0, OtherGroup).Big; big == nil || *big != (BigKeys{1, 1 << 22}) {
			t.Errorf("the rest has %+v", big)
		}
		if _, lengths := n.asked(); !lengths["limit:list"] || !lengths["limit:zset"] || len(lengths) != 2 {
			t.Errorf("asked the lengths of %v", lengths)
		}
	})
}

// TestBigKeysAreRemembered: what was found is found again in every sweep, whatever
// else there is, until it is gone or small.
func TestBigKeysAreRemembered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "many:%d", 3000, time.Hour)
		n.add(0, "big", fakeKey{bytes: 1 << 30})
		n.add(3, "big", fakeKey{bytes: 1 << 29, keyType: "set", length: 5})
		s := newSweeper(bigTarget(t, 100), n, 1)
		known := func(db int) int64 {
			total := int64(0)
			_, groups := figures(&sweepOf(t, s).Counted)
			for _, g := range groups {
				if g.DB == db {
					total += g.Big.Keys
				}
			}
			return total
		}
		for sweeps := 0; len(s.big.known) < 2; sweeps++ { // each is met by one in 60
			n.forget()
			sweepOf(t, s)
			if calls, _ := n.asked(); calls > 100 || sweeps > 2000 {
				t.Fatalf("%d calls of 100, %d sweeps", calls, sweeps)
			}
		}
		for range 5 {
			if known(0) != 1 || known(3) != 1 {
				t.Fatal("what was found is not found again")
			}
		}
		n.add(0, "big", fakeKey{bytes: 100})
		n.remove(3, "big")
		if known(0) != 0 || known(3) != 0 {
			t.Error("what is small or gone still counts")
		}
	})
}

// TestBigKeysAmongTheSizes: what the memory estimates met is not lost.
func TestBigKeysAmongTheSizes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "many:%d", 5000, time.Hour)
		for i := range 3 {
			n.add(0, fmt.Sprintf("limit:%d", i), fakeKey{bytes: 1 << 21})
		}
		target := bigTarget(t, 18) // room for three known ones
		target.Sweep.MemorySamples = 50
		s := newSweeper(target, n, 1)
		sweepOf(t, s)
		if big := mustGroup(t, sweepOf(t, s), 0, "limit").Big; big.Keys != 3 {
			t.Errorf("%+v", *big)
		}
	})
}

// TestBigKeysSurviveAFailure: what is known is not forgotten when nobody can look.
func TestBigKeysSurviveAFailure(t *testing.T) {
	for name, fail := range map[string]func(*fakeNode) func(){
		"cut": func(n *fakeNode) func() {
			n.script(failOn("type", cutError()))
			return func() { n.script(nil) }
		},
		"refused": func(n *fakeNode) func() {
			n.deny("memory", true)
			return func() { n.deny("memory", false) }
		},
		"lengths refused": func(n *fakeNode) func() {
			n.deny("length", true)
			return func() { n.deny("length", false) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := newFakeNode(t)
				n.add(0, "limit:string", fakeKey{bytes: 1 << 21})
				n.add(0, "limit:list", fakeKey{keyType: "list", length: 10_000, bytes: 20_000})
				s := newSweeper(bigTarget(t, 1000), n, 1)
				sweepOf(t, s)
				mend := fail(n)
				_, _ = s.sweep(t.Context(), func(Info, time.Duration) {})
				if len(s.big.known) != 2 {
					t.Errorf("%d are known", len(s.big.known))
				}
				mend()
				if big := mustGroup(t, sweepOf(t, s), 0, "limit").Big; big == nil || big.Keys != 2 {
					t.Errorf("%+v", big)
				}
			})
		})
	}
}

// TestBigKeysAreBounded: the biggest are remembered.
func TestBigKeysAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		for i := range 300 {
			n.add(0, fmt.Sprintf("big:%d", i), fakeKey{bytes: 1<<20 + int64(i)})
		}
		s := newSweeper(bigTarget(t, 10_000), n, 1)
		result := sweepOf(t, s)
		if len(s.big.known) != mostBigKeys || s.big.known[0].bytes != 1<<20+299 || s.big.known[mostBigKeys-1].bytes != 1<<20+200 {
			t.Errorf("%d are known, from %d to %d bytes", len(s.big.known), s.big.known[len(s.big.known)-1].bytes, s.big.known[0].bytes)
		}
		if big := mustGroup(t, result, 0, OtherGroup).Big; big.Keys != mostBigKeys {
			t.Errorf("%+v", *big)
		}
	})
}

// TestBigKeysRefused: without TYPE or MEMORY USAGE there is no figure, without
// lengths that of the sizes.
func TestBigKeysRefused(t *testing.T) {
	for command, want := range map[string]*BigKeys{"type": nil, "memory": nil, "length": {1, 1 << 20}} {
		bubble(t, func(t *testing.T) {
			n := newFakeNode(t)
			n.add(0, "limit:string", fakeKey{bytes: 1 << 20})
			n.add(0, "limit:list", fakeKey{keyType: "list", length: 10_000, bytes: 20_000})
			n.deny(command, true)
			s := newSweeper(bigTarget(t, 1000), n, 1)
			big := mustGroup(t, sweepOf(t, s), 0, "limit").Big
			if (big == nil) != (want == nil) || big != nil && *big != *want {
				t.Errorf("%s refused: %+v, want %+v", command, big, want)
			}
			n.deny(command, false)
			if big := mustGroup(t, sweepOf(t, s), 0, "limit").Big; big == nil || big.Keys != 2 {
				t.Errorf("%s permitted again: %+v", command, big)
			}
		})
	}
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "limit:%d", 20, 0)
		if g := mustGroup(t, sweepOf(t, newSweeper(bigTarget(t, 0), n, 1)), 0, "limit"); g.Big != nil || len(n.log("type")) > 0 {
			t.Error("looked for although it is off")
		}
	})
}

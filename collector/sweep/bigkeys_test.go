package sweep

import (
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

// bigTarget looks for keys of 1 MiB or 10,000 elements within a budget of calls.
func bigTarget(t *testing.T, budget int) spec.Target {
	target := targetOf(t, "limit=limit:*@60s")
	target.Sweep.MemorySamples = 0
	target.Sweep.BigKeys.Budget = budget
	return target
}

// asked counts what was asked about keys: TYPE, MEMORY USAGE and lengths.
func asked(n *fake.Node) (calls int, lengths map[string]bool) {
	lengths = map[string]bool{}
	for _, command := range []string{"type", "memory", "length"} {
		for _, call := range n.Log(command) {
			calls += len(call.Names)
			for _, name := range call.Names {
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
		n := fake.NewNode(t)
		n.Add(0, "limit:string", fake.Key{Bytes: 1 << 20})
		n.Add(0, "limit:almost", fake.Key{Bytes: 1<<20 - 1})
		n.Add(0, "limit:list", fake.Key{KeyType: "list", Length: 10_000, Bytes: 20_000})
		n.Add(0, "limit:zset", fake.Key{KeyType: "zset", Length: 9_999, Bytes: 500_000})
		n.Add(0, "limit:small", fake.Key{KeyType: "hash", Length: 10_000, Bytes: 19_999}) // cannot be
		n.Add(0, "limit:module", fake.Key{KeyType: "module-x", Bytes: 1 << 21})
		n.Add(0, "other", fake.Key{Bytes: 1 << 22})
		s := newSweeper(bigTarget(t, 1000), n, 1)
		result := sweepOf(t, s)
		if big := mustGroup(t, result, 0, "limit").Big; big == nil || *big != (tally.BigKeys{Keys: 3, LargestBytes: 1 << 21}) {
			t.Errorf("limit has %+v", big)
		}
		if big := mustGroup(t, result, 0, classify.OtherGroup).Big; big == nil || *big != (tally.BigKeys{Keys: 1, LargestBytes: 1 << 22}) {
			t.Errorf("the rest has %+v", big)
		}
		if _, lengths := asked(n); !lengths["limit:list"] || !lengths["limit:zset"] || len(lengths) != 2 {
			t.Errorf("asked the lengths of %v", lengths)
		}
	})
}

// TestBigKeysAreRemembered: what was found is found again in every sweep, whatever
// else there is, until it is gone or small.
func TestBigKeysAreRemembered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "many:%d", 3000, time.Hour)
		n.Add(0, "big", fake.Key{Bytes: 1 << 30})
		n.Add(3, "big", fake.Key{Bytes: 1 << 29, KeyType: "set", Length: 5})
		s := newSweeper(bigTarget(t, 100), n, 1)
		known := func(db int) int64 {
			total := int64(0)
			_, groups := estimate.Figures(&sweepOf(t, s).Counted)
			for _, g := range groups {
				if g.DB == db {
					total += g.Big.Keys
				}
			}
			return total
		}
		for sweeps := 0; len(s.big.known) < 2; sweeps++ { // each is met by one in 60
			n.Forget()
			sweepOf(t, s)
			if calls, _ := asked(n); calls > 100 || sweeps > 2000 {
				t.Fatalf("%d calls of 100, %d sweeps", calls, sweeps)
			}
		}
		for range 5 {
			if known(0) != 1 || known(3) != 1 {
				t.Fatal("what was found is not found again")
			}
		}
		n.Add(0, "big", fake.Key{Bytes: 100})
		n.Remove(3, "big")
		if known(0) != 0 || known(3) != 0 {
			t.Error("what is small or gone still counts")
		}
	})
}

// TestBigKeysAmongTheSizes: what the memory estimates met is not lost.
func TestBigKeysAmongTheSizes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "many:%d", 5000, time.Hour)
		for i := range 3 {
			n.Add(0, fmt.Sprintf("limit:%d", i), fake.Key{Bytes: 1 << 21})
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
	for name, fail := range map[string]func(*fake.Node) func(){
		"cut": func(n *fake.Node) func() {
			n.Script(fake.FailOn("type", fake.CutError()))
			return func() { n.Script(nil) }
		},
		"refused": func(n *fake.Node) func() {
			n.Deny("memory", true)
			return func() { n.Deny("memory", false) }
		},
		"lengths refused": func(n *fake.Node) func() {
			n.Deny("length", true)
			return func() { n.Deny("length", false) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Add(0, "limit:string", fake.Key{Bytes: 1 << 21})
				n.Add(0, "limit:list", fake.Key{KeyType: "list", Length: 10_000, Bytes: 20_000})
				s := newSweeper(bigTarget(t, 1000), n, 1)
				sweepOf(t, s)
				mend := fail(n)
				_, _ = s.sweep(t.Context(), func(source.Info, time.Duration) {})
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
		n := fake.NewNode(t)
		for i := range 300 {
			n.Add(0, fmt.Sprintf("big:%d", i), fake.Key{Bytes: 1<<20 + int64(i)})
		}
		s := newSweeper(bigTarget(t, 10_000), n, 1)
		result := sweepOf(t, s)
		if len(s.big.known) != mostBigKeys || s.big.known[0].bytes != 1<<20+299 || s.big.known[mostBigKeys-1].bytes != 1<<20+200 {
			t.Errorf("%d are known, from %d to %d bytes", len(s.big.known), s.big.known[len(s.big.known)-1].bytes, s.big.known[0].bytes)
		}
		if big := mustGroup(t, result, 0, classify.OtherGroup).Big; big.Keys != mostBigKeys {
			t.Errorf("%+v", *big)
		}
	})
}

// TestBigKeysRefused: without TYPE or MEMORY USAGE there is no figure, without
// lengths that of the sizes.
func TestBigKeysRefused(t *testing.T) {
	for command, want := range map[string]*tally.BigKeys{"type": nil, "memory": nil, "length": {Keys: 1, LargestBytes: 1 << 20}} {
		bubble(t, func(t *testing.T) {
			n := fake.NewNode(t)
			n.Add(0, "limit:string", fake.Key{Bytes: 1 << 20})
			n.Add(0, "limit:list", fake.Key{KeyType: "list", Length: 10_000, Bytes: 20_000})
			n.Deny(command, true)
			s := newSweeper(bigTarget(t, 1000), n, 1)
			big := mustGroup(t, sweepOf(t, s), 0, "limit").Big
			if (big == nil) != (want == nil) || big != nil && *big != *want {
				t.Errorf("%s refused: %+v, want %+v", command, big, want)
			}
			n.Deny(command, false)
			if big := mustGroup(t, sweepOf(t, s), 0, "limit").Big; big == nil || big.Keys != 2 {
				t.Errorf("%s permitted again: %+v", command, big)
			}
		})
	}
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 20, 0)
		if g := mustGroup(t, sweepOf(t, newSweeper(bigTarget(t, 0), n, 1)), 0, "limit"); g.Big != nil || len(n.Log("type")) > 0 {
			t.Error("looked for although it is off")
		}
	})
}

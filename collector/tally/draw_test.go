package tally

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func newTestStore(seed uint64, limit int) *Store {
	return &Store{rng: rand.New(rand.NewPCG(seed, seed)), limit: limit}
}

// TestDrawUniform draws 20 of 200 names many times: each must be kept as often
// as any other, wherever it came and whether or not the draw was shrunk on the
// way.
func TestDrawUniform(t *testing.T) {
	const names, limit, rounds = 200, 20, 2000
	tests := []struct {
		name     string
		limited  bool
		shrinkAt map[int]bool // before that name is offered
	}{
		{"limited from the start", true, nil},
		{"shrunk at the end", false, map[int]bool{names: true}},
		{"shrunk half way", false, map[int]bool{names / 2: true}},
		{"shrunk before it is full", false, map[int]bool{limit / 2: true}},
		{"limited and shrunk with others", true, map[int]bool{5: true, 50: true, 150: true}},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kept := make([]int, names)
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for range rounds {
				store := NewStore(rng, limit)
				d := store.NewDraw(test.limited)
				for n := range names + 1 {
					if test.shrinkAt[n] {
						store.shrink()
					}
					if n < names {
						store.offer(d, Key{Name: "name", DB: n})
					}
				}
				if len(d.Keys) != limit {
					t.Fatalf("%d names are kept", len(d.Keys))
				}
				for _, k := range d.Keys {
					kept[k.DB]++
				}
			}
			checkUniform(t, kept, rounds, float64(limit)/names)
		})
	}
}

// checkUniform is a chi-square test of how often each was drawn without
// replacement, with the normal approximation of its many degrees of freedom.
func checkUniform(t *testing.T, kept []int, rounds int, share float64) {
	t.Helper()
	expected := float64(rounds) * share
	var sum float64
	for _, n := range kept {
		sum += (float64(n) - expected) * (float64(n) - expected)
	}
	freedom := float64(len(kept) - 1)
	chi := sum / (expected * (1 - share)) * freedom / float64(len(kept))
	if math.Abs(chi-freedom) > 4*math.Sqrt(2*freedom) {
		t.Errorf("chi-square %.0f with %.0f degrees of freedom; kept: %v", chi, freedom, kept)
	}
}

func TestDrawKeepsEverything(t *testing.T) {
	store := newTestStore(1, LimitedTo)
	a, b, few := store.NewDraw(false), store.NewDraw(false), store.NewDraw(true)
	long := strings.Repeat("x", 1<<20)
	store.offer(a, Key{Name: long})
	for i := range LimitedTo {
		store.offer(few, Key{Name: "name", DB: i})
	}
	for i := range maxNames - LimitedTo - 1 {
		store.offer([]*Draw{a, b}[i%2], Key{Name: "name", DB: i})
	}
	if len(a.Keys)+len(b.Keys)+len(few.Keys) != maxNames || a.limited || b.limited || a.Keys[0].Name != long {
		t.Fatalf("%d + %d + %d names are kept", len(a.Keys), len(b.Keys), len(few.Keys))
	}
	store.offer(b, Key{Name: "one too many"})
	if len(a.Keys) != LimitedTo || len(b.Keys) != LimitedTo || len(few.Keys) != LimitedTo {
		t.Errorf("%d + %d + %d names are left", len(a.Keys), len(b.Keys), len(few.Keys))
	}
	for _, k := range a.Keys {
		if k.Name == long {
			t.Error("a long name is drawn")
		}
	}
	checkStore(t, store)
}

// A limited draw gets its share of a store that others have filled: of a
// database that is sampled after another one was walked.
func TestDrawAfterTheStoreIsFull(t *testing.T) {
	for _, test := range []struct {
		name  string
		size  int
		count int
	}{
		{"by names", 10, maxNames},
		{"by bytes", 4096, maxNameBytes / 4096},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := newTestStore(1, LimitedTo)
			all, few := store.NewDraw(false), store.NewDraw(true)
			for range test.count {
				store.offer(all, Key{Name: strings.Repeat("a", test.size)})
			}
			if len(all.Keys) != test.count {
				t.Fatalf("%d of %d names fit", len(all.Keys), test.count)
			}
			for range LimitedTo {
				store.offer(few, Key{Name: "b"})
				checkStore(t, store)
			}
			if len(few.Keys) != LimitedTo || len(all.Keys) != LimitedTo {
				t.Errorf("%d of the later names are kept, %d of the others", len(few.Keys), len(all.Keys))
			}
		})
	}
}

// TestDrawBounds offers names of hostile sizes to many draws.
func TestDrawBounds(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	sizes := []int{0, 1, 40, LongestDrawn - 1, LongestDrawn, LongestDrawn + 1, 100_000, 1 << 20, maxNameBytes, len(long)}
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			store := newTestStore(seed, LimitedTo)
			rng := rand.New(rand.NewPCG(seed, 99))
			var draws []*Draw
			for range 1 + rng.IntN(maxNames/LimitedTo) {
				draws = append(draws, store.NewDraw(rng.IntN(2) == 0))
			}
			mostly := sizes[rng.IntN(len(sizes))]
			for i := range 30_000 {
				size := mostly
				if rng.IntN(10) == 0 {
					size = sizes[rng.IntN(len(sizes))]
				}
				store.offer(draws[rng.IntN(len(draws))], Key{Name: long[:size]})
				if store.names > maxNames || store.bytes > maxNameBytes {
					t.Fatalf("%d names and %d bytes are kept", store.names, store.bytes)
				}
				if i%1000 == 0 {
					checkStore(t, store)
				}
			}
			checkStore(t, store)
		})
	}
}

// checkStore counts what is really kept.
func checkStore(t *testing.T, store *Store) {
	t.Helper()
	var names, size int
	for _, d := range store.draws {
		names += len(d.Keys)
		for _, k := range d.Keys {
			size += len(k.Name)
		}
		if d.limited && len(d.Keys) > store.limit {
			t.Fatalf("a limited draw keeps %d names", len(d.Keys))
		}
	}
	if names != store.names || size != store.bytes || names > maxNames || size > maxNameBytes {
		t.Fatalf("%d names and %d bytes are kept, %d and %d are counted", names, size, store.names, store.bytes)
	}
}

// A name that is too long for a limited draw is not offered to it: it takes no
// other name's chance.
func TestDrawLongNames(t *testing.T) {
	store := newTestStore(1, 10)
	d := store.NewDraw(true)
	long := strings.Repeat("x", LongestDrawn+1)
	for i := range 1000 {
		store.offer(d, Key{Name: long})
		if i < 10 {
			store.offer(d, Key{Name: long[1:]})
		}
	}
	if len(d.Keys) != 10 || d.offered != 10 {
		t.Errorf("%d of %d names are kept", len(d.Keys), d.offered)
	}
	checkStore(t, store)
}

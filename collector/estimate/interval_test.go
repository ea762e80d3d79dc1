package estimate

import (
	"fmt"
	"math"
	"testing"
)

// pascal holds the binomial coefficients, by addition alone.
func pascal(size int) [][]float64 {
	rows := make([][]float64, size+1)
	for n := range rows {
		rows[n] = make([]float64, n+1)
		rows[n][0], rows[n][n] = 1, 1
		for k := 1; k < n; k++ {
			rows[n][k] = rows[n-1][k-1] + rows[n-1][k]
		}
	}
	return rows
}

// enumeration is the distribution of the marked keys in a sample, by counting
// the samples: chance[marked][seen].
func enumeration(choose [][]float64, n, all int) [][]float64 {
	chance := make([][]float64, all+1)
	for marked := range chance {
		chance[marked] = make([]float64, n+1)
		for x := max(0, n+marked-all); x <= min(n, marked); x++ {
			chance[marked][x] = choose[marked][x] * choose[all-marked][n-x] / choose[all][n]
		}
	}
	return chance
}

// TestIntervalAgainstEnumeration takes every population of up to 60 keys, every
// sample of it and every number of marked keys: no bound may miss the truth on
// its side in more than 2.5 % of the samples, and the bounds must be the
// narrowest that the definition allows.
func TestIntervalAgainstEnumeration(t *testing.T) {
	const slack = 1e-9 // of rounding
	choose := pascal(60)
	for all := 1; all <= 60; all++ {
		for n := 1; n <= all; n++ {
			chance := enumeration(choose, n, all)
			bounds := make([]Interval, n+1)
			for x := range bounds {
				bounds[x] = shareInterval(float64(x), float64(n), float64(all))
				checkBounds(t, chance, x, bounds[x])
			}
			for marked := 0; marked <= all; marked++ {
				var low, high float64
				for x, p := range chance[marked] {
					if bounds[x].Lower > float64(marked)/float64(all)+slack {
						low += p
					}
					if bounds[x].Upper < float64(marked)/float64(all)-slack {
						high += p
					}
				}
				if low > 0.025+slack || high > 0.025+slack {
					t.Fatalf("%d of %d marked, %d drawn: %.4f miss low, %.4f high", marked, all, n, low, high)
				}
			}
		}
	}
}

// checkBounds compares an interval with its definition: the numbers of marked
// keys at its ends are the last ones with which what was seen, or more extreme,
// has a chance above 2.5 %.
func checkBounds(t *testing.T, chance [][]float64, seen int, got Interval) {
	t.Helper()
	all := len(chance) - 1
	tails := func(marked int) (atLeast, atMost float64) {
		for x, p := range chance[marked] {
			if x >= seen {
				atLeast += p
			}
			if x <= seen {
				atMost += p
			}
		}
		return atLeast, atMost
	}
	lower, upper := int(math.Round(got.Lower*float64(all))), int(math.Round(got.Upper*float64(all)))
	const tie = 1e-9 // a chance of 2.5 % may count as either
	if p, _ := tails(lower); p <= 0.025-tie {
		t.Fatalf("%d of %d seen, %d in all: lower %d is too low", seen, len(chance[0])-1, all, lower)
	}
	if _, p := tails(upper); p <= 0.025-tie {
		t.Fatalf("%d of %d seen, %d in all: upper %d is too high", seen, len(chance[0])-1, all, upper)
	}
	if lower > 0 {
		if p, _ := tails(lower - 1); p > 0.025+tie {
			t.Fatalf("%d of %d seen, %d in all: lower %d is too high", seen, len(chance[0])-1, all, lower)
		}
	}
	if upper < all {
		if _, p := tails(upper + 1); p > 0.025+tie {
			t.Fatalf("%d of %d seen, %d in all: upper %d is too low", seen, len(chance[0])-1, all, upper)
		}
	}
}

// The examples of Newcombe, Two-sided confidence intervals for the single
// proportion, Statistics in Medicine 17 (1998), table I: score method and
// Clopper-Pearson.
func TestIntervalsOfNewcombe(t *testing.T) {
	tests := []struct {
		k, n          float64
		score, direct Interval
	}{
		{81, 263, Interval{0.2553, 0.3662}, Interval{0.2527, 0.3676}},
		{15, 148, Interval{0.0624, 0.1605}, Interval{0.0578, 0.1617}},
		{0, 20, Interval{0, 0.1611}, Interval{0, 0.1684}},
		{1, 29, Interval{0.0061, 0.1718}, Interval{0.0009, 0.1776}},
	}
	near := func(a, b Interval) bool {
		return math.Abs(a.Lower-b.Lower) < 0.00006 && math.Abs(a.Upper-b.Upper) < 0.00006
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.k, " of ", test.n), func(t *testing.T) {
			if got := wilson(test.k/test.n, test.n, 0); !near(got, test.score) {
				t.Errorf("Wilson %v, want %v", got, test.score)
			}
			if got := ClopperPearson(test.k, test.n); !near(got, test.direct) {
				t.Errorf("Clopper-Pearson %v, want %v", got, test.direct)
			}
			mirrored := ClopperPearson(test.n-test.k, test.n)
			if !near(Interval{1 - mirrored.Upper, 1 - mirrored.Lower}, test.direct) {
				t.Errorf("mirrored Clopper-Pearson %v", mirrored)
			}
			// In a population that is never used up it is the same.
			for _, all := range []float64{2e9, 1e12, 8e14, math.MaxFloat64} {
				if got := shareInterval(test.k, test.n, all); test.k < large && !near(got, test.direct) {
					t.Errorf("of %v keys %v, want %v", all, got, test.direct)
				}
			}
		})
	}
}

// All m looks confirmed: the bound is the m-th root of 2.5 %.
func TestClopperPearsonOfAll(t *testing.T) {
	for _, m := range []float64{1, 2, 50, 100, 10_000} {
		want := math.Pow(0.025, 1/m)
		if got := ClopperPearson(m, m); math.Abs(got.Lower-want) > 1e-9 || got.Upper != 1 {
			t.Errorf("all of %v: %v, want %v to 1", m, got, want)
		}
		if got := ClopperPearson(0, m); got.Lower != 0 || math.Abs(got.Upper-(1-want)) > 1e-9 {
			t.Errorf("none of %v: %v, want 0 to %v", m, got, 1-want)
		}
	}
	if got := ClopperPearson(0, 0); got != (Interval{0, 1}) {
		t.Errorf("without a look anything is possible, not %v", got)
	}
}

// With the share f of all keys seen and none marked, a marked key was missed
// with the chance 1 - f: ln(.025)/ln(1-f) of them may be left.
func TestIntervalNoneSeen(t *testing.T) {
	const all = 1_000_000
	for _, f := range []float64{0.001, 0.05, 0.3, 0.5, 0.7, 0.9} {
		got := shareInterval(0, f*all, all)
		want := math.Log(0.025) / math.Log(1-f)
		if keys := got.Upper * all; got.Lower != 0 || math.Abs(keys-want) > math.Max(1.01, want/100) {
			t.Errorf("f = %v: %v, %v keys, want about %v", f, got, keys, want)
		}
	}
	// One key that was left out is marked in more than 2.5 % of the samples.
	if got := shareInterval(0, 0.97*all, all); got.Upper != 1.0/all {
		t.Errorf("f = 0.97: %v, want one key", got)
	}
}

func TestIntervalAllSeen(t *testing.T) {
	for _, n := range []float64{1, 10, 99, 1000, 1e6} {
		for _, marked := range []float64{0, 1, math.Floor(n / 3), n} {
			want := marked / n
			if got := shareInterval(marked, n, n); math.Abs(got.Lower-want) > 1e-12 || math.Abs(got.Upper-want) > 1e-12 {
				t.Errorf("%v of %v: %v is no point", marked, n, got)
			}
		}
	}
	if got := shareInterval(2, 10, 7); got != (Interval{0.2, 0.2}) {
		t.Errorf("more seen than there are now: %v", got)
	}
}

func TestIntervalHugePopulation(t *testing.T) {
	for _, n := range []float64{10, 99, 100_000, 1e9, 2e9 - 1} {
		for _, marked := range []float64{0, 0.3, 1, 49, 50, 51.5, n / 2, n - 51, n - 1, n} {
			if marked < 0 || marked > n {
				continue
			}
			got, share := shareInterval(marked, n, 2e9), marked/n
			const key = 1 / 2e9 // bounds are whole keys of the population
			if !(0 <= got.Lower && got.Lower <= share+key && share-key <= got.Upper && got.Lower <= got.Upper && got.Upper <= 1) {
				t.Errorf("%v of %v: %v", marked, n, got)
			}
		}
	}
}

// Both methods agree where one takes over from the other, to a fifth of the
// distance from the share.
func TestIntervalAroundTheSwitch(t *testing.T) {
	for _, n := range []float64{100, 500, 5000, 100_000} {
		for _, all := range []float64{n * 1.2, n * 3, n * 1000} {
			for _, marked := range []float64{50, n - 50} {
				share := marked / n
				exact := Interval{fewestMarked(marked, n, all) / all, 1 - fewestMarked(n-marked, n, all)/all}
				got := wilson(share, n, n/all)
				if math.Abs(got.Lower-exact.Lower) > (share-exact.Lower)/5 || math.Abs(got.Upper-exact.Upper) > (exact.Upper-share)/5 {
					t.Errorf("%v of %v of %v: Wilson %v, exact %v", marked, n, all, got, exact)
				}
			}
		}
	}
}

// More marked keys never make a bound smaller, and a larger population never
// makes the interval narrower. Fractions of a key are rounded outwards by one
// method only: where it takes over a bound may step back within a key.
func TestIntervalMonotonic(t *testing.T) {
	for _, n := range []float64{7, 60, 101, 160} {
		step := 0.5
		if n >= 2*large {
			step = 1
		}
		for _, all := range []float64{n, n + 1, n * 1.5, n * 10, 1e6} {
			last := Interval{}
			for marked := 0.0; marked <= n; marked += step {
				got := shareInterval(marked, n, all)
				if got.Lower < last.Lower-1e-12 || got.Upper < last.Upper-1e-12 {
					t.Errorf("%v of %v of %v: %v after %v", marked, n, all, got, last)
				}
				last = got
			}
		}
		for marked := 0.0; marked <= n; marked += math.Ceil(n / 50) {
			width := 0.0
			for all := n; all < 1e6; all *= 2 {
				got := shareInterval(marked, n, all)
				if got.Upper-got.Lower < width-1e-12 {
					t.Errorf("%v of %v: of %v keys narrower than of half as many", marked, n, all)
				}
				width = got.Upper - got.Lower
			}
		}
	}
}

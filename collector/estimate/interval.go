// How sure a share is that was seen in a sample drawn without replacement.
// docs/statistics.md has the formulae and their sources in words.

package estimate

import "math"

const (
	tail      = 0.025 // on each side of a 95 % interval
	normal975 = 1.959963984540054
	large     = 50   // counts from which on Wilson is used
	infinite  = 1e10 // a larger population changes no digit that counts, and Lgamma would lose some
)

// Interval is a 95 % interval of a share, 0 <= Lower <= Upper <= 1.
type Interval struct {
	Lower, Upper float64
}

// shareInterval bounds the share of marked keys among population keys, where
// sample of them were drawn and marked of those were marked. The numbers may be
// fractions: estimates and effective sizes.
func shareInterval(marked, sample, population float64) Interval {
	n := math.Max(1, math.Round(sample))
	all := math.Max(n, math.Round(math.Min(population, infinite)))
	low, high := math.Floor(marked+1e-9), math.Ceil(marked-1e-9)
	if low >= large && n-high >= large {
		return wilson(marked/sample, n, n/all)
	}
	return Interval{
		Lower: fewestMarked(low, n, all) / all,
		Upper: (all - fewestMarked(n-high, n, all)) / all, // the most marked is the fewest unmarked
	}
}

// wilson is the score interval (Wilson 1927) with the finite-population factor
// in the sample size; seen is the share of the population that was drawn.
func wilson(share, sample, seen float64) Interval {
	if seen >= 1 {
		return Interval{share, share}
	}
	n := sample / (1 - seen)
	z2 := normal975 * normal975
	middle := (share + z2/(2*n)) / (1 + z2/n)
	half := normal975 / (1 + z2/n) * math.Sqrt(share*(1-share)/n+z2/(4*n*n))
	return Interval{math.Max(0, middle-half), math.Min(1, middle+half)}
}

// fewestMarked is the smallest number of marked keys in the population with
// which at least k marked ones of n drawn are more likely than the tail.
func fewestMarked(k, n, population float64) float64 {
	if k <= 0 {
		return 0
	}
	low, high := k, population-(n-k) // high: all that was not seen is marked
	for low < high {
		middle := math.Floor((low + high) / 2)
		if atLeast(k, n, middle, population) > tail {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// atLeast is P(X >= k) where n keys are drawn from a population that holds
// marked ones: the hypergeometric distribution, summed over its shorter side.
func atLeast(k, n, marked, population float64) float64 {
	most := math.Min(n, marked)
	if most-k < k {
		sum := 0.0
		for x := k; x <= most; x++ {
			sum += hypergeometric(x, n, marked, population)
		}
		return sum
	}
	sum := 0.0
	for x := math.Max(0, n+marked-population); x < k; x++ {
		sum += hypergeometric(x, n, marked, population)
	}
	return 1 - sum
}

func hypergeometric(x, n, marked, population float64) float64 {
	return math.Exp(logChoose(marked, x) + logChoose(population-marked, n-x) - logChoose(population, n))
}

// ClopperPearson bounds a share of which k of n independent looks were true
// (Clopper and Pearson 1934). It is exported for the tests of package sweep.
func ClopperPearson(k, n float64) Interval {
	bound := func(k float64) float64 { // the smallest share with P(X >= k) > tail
		if k <= 0 {
			return 0
		}
		low, high := 0.0, 1.0
		for range 50 {
			middle := (low + high) / 2
			if BinomialAtLeast(k, n, middle) > tail {
				high = middle
			} else {
				low = middle
			}
		}
		return low
	}
	return Interval{Lower: bound(k), Upper: 1 - bound(n-k)}
}

// BinomialAtLeast is P(X >= k) of n tries with the given share. It is exported for
// the repetition tests of package sweep, which allow as many misses as chance does.
func BinomialAtLeast(k, n, share float64) float64 {
	term := func(x float64) float64 {
		return math.Exp(logChoose(n, x) + x*math.Log(share) + (n-x)*math.Log1p(-share))
	}
	sum := 0.0
	if n-k < k {
		for x := k; x <= n; x++ {
			sum += term(x)
		}
		return sum
	}
	for x := 0.0; x < k; x++ {
		sum += term(x)
	}
	return 1 - sum
}

func logChoose(n, k float64) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// This file owns what is printed: the table, and how ours compare with the others.

package bench

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func print(t *testing.T, all []contender, table []figures) {
	t.Helper()
	load, _ := os.ReadFile("/proc/loadavg")
	var b strings.Builder
	fmt.Fprintf(&b, "%d rounds of %v, %d CPUs, load %s", *rounds, *each, runtime.NumCPU(), load)
	b.WriteString("\n| limiter | counts | 1 caller, /s | 16 callers, /s | 64 callers, /s | server us | allocations | bytes beside the name | round trips |\n|---|---|---|---|---|---|---|---|---|\n")
	for i, l := range all {
		f := table[i]
		fmt.Fprintf(&b, "| %s | %s |", l.name, l.counts)
		for _, n := range callers {
			fmt.Fprintf(&b, " %.0f |", median(f.perSecond[n]))
		}
		fmt.Fprintf(&b, " %.1f | %.0f | %.0f | %.1f |\n", median(f.server), median(f.allocs), f.bytes, f.trip)
	}
	b.WriteString("\ndecisions a second, as a multiple of another's in the same round:\n")
	for i, l := range all {
		for j, other := range all {
			if l.ours && !other.ours {
				fmt.Fprintf(&b, "%s / %s:", l.name, other.name)
				for _, n := range callers {
					fmt.Fprintf(&b, " %.2f", median(ratios(table[i].perSecond[n], table[j].perSecond[n])))
				}
				b.WriteString("\n")
			}
		}
	}
	t.Log(b.String())
}

// ratios are those of two limiters, round by round: a slow one is slow for both.
func ratios(a, b []float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = a[i] / b[i]
	}
	return all
}

func median(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	return sorted[len(sorted)/2]
}

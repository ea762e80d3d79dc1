// What the package's tests have in common: one sweep with its figures.

package collector

import (
	"testing"
	"time"
)

// sweepOf runs one sweep that must succeed.
func sweepOf(t testing.TB, s *sweeper) *swept {
	t.Helper()
	result, err := s.sweep(t.Context(), func(Info, time.Duration) {})
	if err != nil {
		t.Fatalf("the sweep failed: %v", err)
	}
	return result
}

// failureOfSweep runs one sweep that must fail, and answers its reason.
func failureOfSweep(t testing.TB, s *sweeper) string {
	t.Helper()
	if _, err := s.sweep(t.Context(), func(Info, time.Duration) {}); err != nil {
		return reasonOf(err)
	}
	t.Fatal("the sweep succeeded")
	return ""
}

// mustGroup is groupOf of a group that has to be there.
func mustGroup(t testing.TB, result *swept, db int, name string) Group {
	t.Helper()
	_, groups := figures(&result.Counted)
	g := groupOf(groups, db, name)
	if g == nil {
		t.Fatalf("database %d has no group %q", db, name)
	}
	return *g
}

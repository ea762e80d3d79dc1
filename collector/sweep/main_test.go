// What the package's tests have in common: the fake clock, and one sweep with its
// figures. The Redis they sweep is that of internal/fake.

package sweep

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Of package fake, by the names that every test here uses.
var (
	bubble   = fake.Bubble
	pass     = fake.Pass
	targetOf = fake.TargetOf
)

// sweepOf runs one sweep that must succeed.
func sweepOf(t testing.TB, s *sweeper) *Result {
	t.Helper()
	result, err := s.sweep(t.Context(), func(source.Info, time.Duration) {})
	if err != nil {
		t.Fatalf("the sweep failed: %v", err)
	}
	return result
}

// failureOfSweep runs one sweep that must fail, and answers its reason.
func failureOfSweep(t testing.TB, s *sweeper) string {
	t.Helper()
	if _, err := s.sweep(t.Context(), func(source.Info, time.Duration) {}); err != nil {
		return source.ReasonOf(err)
	}
	t.Fatal("the sweep succeeded")
	return ""
}

// groupOf finds a group in a sweep's figures, nil where it has none.
func groupOf(groups []estimate.Group, db int, name string) *estimate.Group {
	for i := range groups {
		if groups[i].DB == db && groups[i].Name == name {
			return &groups[i]
		}
	}
	return nil
}

// mustGroup is groupOf of a group that has to be there.
func mustGroup(t testing.TB, result *Result, db int, name string) estimate.Group {
	t.Helper()
	_, groups := estimate.Figures(&result.Counted)
	g := groupOf(groups, db, name)
	if g == nil {
		t.Fatalf("database %d has no group %q", db, name)
	}
	return *g
}

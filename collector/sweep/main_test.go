// What the package's tests have in common: the fake clock, and one sweep with its
// figures. The Redis they sweep is that of internal/fake.

package sweep

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs f where time passes by itself and only when nobody has anything
// to do; it is midnight of 1 January 2000, UTC.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// pass lets fake time go by, and everything that is due then happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// targetOf is a target with the default settings and rules in their quick form.
func targetOf(t testing.TB, groups string) spec.Target {
	t.Helper()
	rules, err := classify.ParseGroups(groups)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Target{Name: "shop", Rules: rules, Sweep: spec.DefaultSweep()}
}

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

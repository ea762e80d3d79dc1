// What the package's tests have in common: the flag, the fake clock, and one
// sweep with its figures. The Redis they sweep is in fakenode_test.go.

package collector

import (
	"flag"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// update writes the golden files and docs/metrics.md anew.
var update = flag.Bool("update", false, "write the golden files and the generated pages anew")

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
func targetOf(t testing.TB, groups string) Target {
	t.Helper()
	rules, err := ParseGroups(groups)
	if err != nil {
		t.Fatal(err)
	}
	return Target{Name: "shop", Rules: rules, Sweep: DefaultSweep()}
}

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

// groupOf finds a group in a sweep's figures, nil where it has none.
func groupOf(groups []Group, db int, name string) *Group {
	for i := range groups {
		if groups[i].DB == db && groups[i].Name == name {
			return &groups[i]
		}
	}
	return nil
}

// mustGroup is groupOf of a group that has to be there.
func mustGroup(t testing.TB, result *swept, db int, name string) Group {
	t.Helper()
	_, groups := figures(result)
	g := groupOf(groups, db, name)
	if g == nil {
		t.Fatalf("database %d has no group %q", db, name)
	}
	return *g
}

func silentLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

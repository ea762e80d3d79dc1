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

// groupOf finds a group in a sweep's figures, nil where it has none.
func groupOf(groups []Group, db int, name string) *Group {
	for i := range groups {
		if groups[i].DB == db && groups[i].Name == name {
			return &groups[i]
		}
	}
	return nil
}

func silentLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

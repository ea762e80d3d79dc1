// What the package's tests have in common: the flag and the fake clock. The Redis
// they watch is that of internal/fake.

package collector

import (
	"context"
	"flag"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/spec"
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

// sleep waits for d, or until ctx ends, and answers ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
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

// groupOf finds a group in a sweep's figures, nil where it has none.
func groupOf(groups []estimate.Group, db int, name string) *estimate.Group {
	for i := range groups {
		if groups[i].DB == db && groups[i].Name == name {
			return &groups[i]
		}
	}
	return nil
}

func silentLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

// What the tests of several packages begin with: a clock of their own, a pause on
// it, and a target. What is swept is node.go.

package fake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
)

// Bubble runs f where time passes by itself and only when nobody has anything
// to do; it is midnight of 1 January 2000, UTC.
func Bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// Pass lets fake time go by, and everything that is due then happen.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Sleep waits for d or until ctx ends, and answers ctx's error. It is that of
// package sweep, whose tests import this one.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// TargetOf is a target with the default settings and rules in their quick form.
func TargetOf(t testing.TB, groups string) spec.Target {
	t.Helper()
	rules, err := classify.ParseGroups(groups)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Target{Name: "shop", Rules: rules, Sweep: spec.DefaultSweep()}
}

// What the package's tests have in common: the flag and the fake clock. The Redis
// they watch is that of internal/fake.

package collector

import (
	"flag"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
)

// update writes the golden files and docs/metrics.md anew.
var update = flag.Bool("update", false, "write the golden files and the generated pages anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Of package fake, by the names that every test here uses.
var (
	bubble   = fake.Bubble
	pass     = fake.Pass
	targetOf = fake.TargetOf
	sleep    = fake.Sleep
)

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

// The live share: what SCAN shows on the stretch of its order that it covered
// against what INFO counts, on every server at hand.

package sweep

import (
	"math"
	"testing"

	"keyhealth/collector/estimate"
	"keyhealth/internal/redistest"
)

// TestStatsLiveShare: where nothing expires, nothing is said to be expired
// garbage, and that is so before the estimate is held to INFO's number.
func TestStatsLiveShare(t *testing.T) {
	const keys, most = 200_000, 5
	redistest.Run(t, "on", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		crowds := []crowd{{name: "limit", keys: keys / 2, zombies: 1000}, {name: "rest", keys: keys / 2, zombies: keys / 4}}
		fillCrowds(t, server, 1, crowds)
		for name, budget := range map[string]int64{"walked": keys, "sampled": keys / 5} {
			t.Run(name, func(t *testing.T) {
				target := crowdTarget(t, server.Addr(), crowds, budget)
				s := hasty(target, serverOf(target), 1)
				var seen, garbage, share moments
				sweeps := most
				if name == "walked" {
					sweeps = 1
				}
				for range sweeps {
					d := sweepOf(t, s).Databases[0]
					if d.Walked != (name == "walked") {
						t.Fatalf("walked: %v", d.Walked)
					}
					seen.add(d.Met() / d.Share / keys)
					garbage.add(*estimate.Unreclaimed(d))
					share.add(d.Share)
				}
				if math.Abs(seen.mean()-1) > 0.02 || math.Abs(garbage.mean()) > 0.02 {
					t.Errorf("live share %.4f, unreclaimed ratio %.4f", seen.mean(), garbage.mean())
				}
				t.Logf("%s %s: live share %.4f +- %.4f on %.3f of the order, unreclaimed ratio %.4f", server.Version(t), name,
					seen.mean(), math.Sqrt(seen.variance()/seen.n), share.mean(), garbage.mean())
			})
		}
	})
}

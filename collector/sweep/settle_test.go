package sweep

import (
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
)

// TestPhoneNumbersAreNoTimes: where a zombie locks its caller out, ten digits are a
// time only if the keys that are in use have times of now.
func TestPhoneNumbersAreNoTimes(t *testing.T) {
	for name, test := range map[string]struct {
		live, zombie string
		leaked, risk float64
	}{
		"phone numbers":                     {"sms:15123451%02d", "sms:15123458%02d", 0, 100},
		"phone numbers of the future alone": {"sms:u%d", "sms:21255511%02d", 0, 100},
		"windows":                           {"sms:9467010%02d", "sms:9467000%02d", 0, 100}, // nine digits are none
		"windows in milliseconds":           {"sms:9466848000%02d", "sms:9466000000%02d", 0, 100},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				n.Skew = 26 * 365 * 24 * time.Hour // to 2025
				n.Put(0, test.live, 100, time.Hour)
				n.Put(0, test.zombie, 100, 0)
				target := targetOf(t, "")
				target.Rules = []classify.Rule{{Name: "sms", Match: classify.Globs{"sms:*"}, Window: classify.Duration(time.Hour), Limit: 5}}
				z := mustGroup(t, sweepOf(t, newSweeper(target, n, 1)), 0, "sms").Zombies
				if z.Leaked != test.leaked || z.LockoutRisk != test.risk {
					t.Errorf("%v leaked, %v at risk", z.Leaked, z.LockoutRisk)
				}
			})
		})
	}
}

// A preset whose few keys one sample did not meet is still there, and a walk
// knows better than all samples before it.
func TestPoolsOfASweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "cache:%d", 20_000, time.Hour)
		n.Put(0, "rl:%d", 20, time.Hour)
		target := targetOf(t, "")
		target.Presets = []classify.Preset{{Name: "rare", Match: classify.Globs{"rl:*"}, TTL: classify.Expected}}
		target.Sweep.MaxKeys = 1000
		s := newSweeper(target, n, 1)
		missed, pooledOnce := false, false
		for range 40 {
			result := sweepOf(t, s)
			met := result.Databases[0].Presets[s.classifier.Groups()]
			_, groups := estimate.Figures(&result.Counted)
			for _, g := range groups {
				if g.Name != "rare" {
					continue
				}
				missed = missed || met.With == 0
				pooledOnce = pooledOnce || g.Examined > met.With
				if g.Library != "" || g.Source != classify.SourcePreset || g.Zombies == nil || g.Zombies.Keys != 0 || g.Zombies.Rated != (g.Examined >= 10) {
					t.Fatalf("%+v, %+v", g, g.Zombies)
				}
			}
			time.Sleep(time.Minute)
		}
		if !missed || !pooledOnce {
			t.Errorf("a sample without the preset's keys: %v; with those of others: %v", missed, pooledOnce)
		}
		s.target.Sweep.MaxKeys = 0
		if g := mustGroup(t, sweepOf(t, s), 0, "rare"); g.Keys != 20 || g.Examined != 20 {
			t.Errorf("a walk found %+v", g)
		}
		s.target.Sweep.MaxKeys = 1000
		if g := mustGroup(t, sweepOf(t, s), 0, "rare"); g.Examined > 20 {
			t.Errorf("the samples outlive a walk: %+v", g)
		}
	})
}

// TestAnotherProcess: what was found before a restart is not mixed with what is
// there after it.
func TestAnotherProcess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "cache:%d", 20_000, 24*time.Hour)
		n.Put(0, "limit:%d", 20, 0)
		n.Sections[0].Fields = append(n.Sections[0].Fields, "run_id:1")
		target := targetOf(t, "limit=limit:*@60s")
		target.Sweep.MaxKeys = 1000
		s := newSweeper(target, n, 1)
		for range 5 {
			sweepOf(t, s)
			time.Sleep(time.Minute)
		}
		s.big.known = []bigKey{{name: "big", bytes: 1 << 30}}
		if g := mustGroup(t, sweepOf(t, s), 0, "limit"); g.Oldest.After(time.Now().Add(-time.Minute)) {
			t.Fatal("nothing is pooled: it shows nothing")
		}
		time.Sleep(time.Minute)
		n.Say("run_id", "2")
		g := mustGroup(t, sweepOf(t, s), 0, "limit")
		if !g.Oldest.After(time.Now().Add(-time.Minute)) {
			t.Errorf("on another process the figures are of %v", g.Oldest)
		}
		if len(s.big.known) > 0 {
			t.Error("big keys of another process are known")
		}
	})
}

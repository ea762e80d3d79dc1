package demo

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *Demo {
	t.Helper()
	d, err := Start(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestRulesFit(t *testing.T) {
	rules, err := Groups()
	if err != nil || classify.ValidateRules(rules) != nil || len(rules) < 5 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}

// TestInfoIsTrue compares INFO with the keys themselves, before and after time
// has passed.
func TestInfoIsTrue(t *testing.T) {
	d := start(t)
	for range 2 {
		size, _ := source.ParseInfo(d.client.Info(t.Context(), "all").Val()).Keyspace()
		var want source.DBSize
		for _, key := range d.client.Keys(t.Context(), "*").Val() {
			want.Keys++
			if d.client.PTTL(t.Context(), key).Val() > 0 {
				want.Expires++
			}
		}
		if size[0] != want || want.WithoutTTL() < 40 {
			t.Errorf("INFO says %+v, the keys say %+v", size[0], want)
		}
		d.server.pass(25 * time.Minute)
	}
	if info := source.ParseInfo(d.client.Info(t.Context()).Val()); info.Flavor() != serverName {
		t.Errorf("it calls itself %q", info.Flavor())
	}
}

// TestCallersAreLockedOut runs the demo until a caller of a broken limiter is
// refused for good; no caller of the reference limiter ever is.
func TestCallersAreLockedOut(t *testing.T) {
	d := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	for d.lockedOut.Load() == 0 {
		<-time.After(20 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	d.server.pass(2 * time.Hour)
	healthy, zombies := 0, 0
	for _, key := range d.client.Keys(t.Context(), "*").Val() {
		switch key[:3] {
		case "ref":
			healthy++
		case "rat", "TOT", "log", "sms":
			zombies++
		}
	}
	if healthy != 0 || zombies < 12 {
		t.Errorf("two hours later %d keys of the reference limiter and %d of the broken ones are left", healthy, zombies)
	}
}

package collector

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"keyhealth/collector/spec"
)

// TestCollectorOfChangingWatchers: each scrape has the watchers of its moment, and
// the descriptors do not depend on them.
func TestCollectorOfChangingWatchers(t *testing.T) {
	watcherOf := func(name string) *Watcher {
		return NewWatcher(spec.Target{Name: name, Endpoint: spec.Endpoint{Network: "tcp", Address: "127.0.0.1:1"}, Sweep: spec.DefaultSweep()}, slog.New(slog.DiscardHandler))
	}
	var watchers []*Watcher
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(Of(func() []*Watcher { return watchers }))
	shop, cart := watcherOf("shop"), watcherOf("cart")
	for _, test := range []struct {
		watchers []*Watcher
		want     []string
	}{
		{nil, nil},
		{[]*Watcher{shop}, []string{"shop"}},
		{[]*Watcher{shop, cart}, []string{"cart", "shop"}},
		{[]*Watcher{cart}, []string{"cart"}},
	} {
		watchers = test.watchers
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, family := range families {
			if family.GetName() != "keyhealth_up" {
				continue
			}
			for _, one := range family.GetMetric() {
				got = append(got, one.GetLabel()[0].GetValue())
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
}

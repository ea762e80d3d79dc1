package collector

import "github.com/prometheus/client_golang/prometheus"

// Collector renders the latest snapshots of its watchers; a scrape never waits
// for Redis. It implements prometheus.Collector.
type Collector struct {
	watchers []*Watcher
}

// New returns the collector of the given watchers, whose target names must differ.
func New(watchers ...*Watcher) *Collector { return &Collector{watchers: watchers} }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {}

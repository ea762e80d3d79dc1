package collector

import "github.com/prometheus/client_golang/prometheus"

// Collector renders the latest snapshots of its watchers; a scrape never waits
// for Redis. It implements prometheus.Collector.
type Collector struct {
	watchers func() []*Watcher
	series   []series
}

// New returns the collector of the given watchers, whose target names must differ.
func New(watchers ...*Watcher) *Collector {
	return Of(func() []*Watcher { return watchers })
}

// Of returns the collector of the watchers that there are at each scrape. Their
// target names must differ.
func Of(watchers func() []*Watcher) *Collector {
	return &Collector{watchers: watchers, series: describe(metrics())}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range c.series {
		ch <- s.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, w := range c.watchers() {
		snapshot := w.Snapshot()
		for _, s := range c.series {
			s.collect(snapshot, ch)
		}
	}
}

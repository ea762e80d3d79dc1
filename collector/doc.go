// Package collector finds Redis keys that will never expire.
//
// [Watch] sweeps one target in the background and keeps the last immutable
// [Snapshot]; [New] is the prometheus.Collector that renders the snapshots of
// any number of watchers, without ever waiting for Redis:
//
//	pages -> classify -> tally -> estimate -> snapshot -> metrics -> scrape
//
// Redis is spoken in source.go and topology.go only, Prometheus in metrics*.go
// and collector.go only, and time passes in watcher.go. What makes a key
// healthy is decided in files that know none of the three.
package collector

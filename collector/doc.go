// Package collector finds Redis keys that will never expire: it watches targets and
// renders what was found as metrics.
//
// A [Watcher] sweeps one target in the background and keeps the last immutable
// [Snapshot]; [New] is the prometheus.Collector that renders the snapshots of any
// number of watchers, without ever waiting for Redis. What happens in between has
// a package a step, each importing only those before it:
//
//	classify   rules, presets and names: which group a key is in
//	spec       what a target is and how it is to be swept
//	source     Redis: connections, INFO, the nodes of a target
//	cursor     SCAN's order, as arithmetic on cursors
//	tally      what was met, counted by group
//	estimate   what the counts say of all keys, and how surely
//	sweep      one pass over a target, which puts these together
//	collector  when to sweep, the snapshot, and the metrics made of it
//
// Redis is spoken in source only, Prometheus in metrics*.go and collector.go here
// only, and time passes in watcher.go and in sweep's pace.go.
package collector

// Package exportertest runs the built keyhealth binary as a process for tests
// and reads what it serves: [Start] it, [Exporter.Scrape] or [Exporter.Wait]
// for metrics, [Exporter.Terminate] it.
package exportertest

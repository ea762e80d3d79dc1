// Package incident re-enacts what went wrong with limiters in public, and what
// was healthy all along, and says which alerts came.
//
// A [File] tells one story: commands for a real Redis, in steps of virtual time,
// and what is expected of metrics and alerts. The tests of this package run each
// file of testdata/incidents and testdata/healthy, or of the folder that
// TEST_KEYHEALTH_INCIDENTS_DIR names: they scrape the real exporter at each step,
// [Timeline] lays the values over virtual time as the input of a rules test, and
// promtool evaluates the shipped rules, unchanged, on it.
//
// What is scraped stands until the next step. Unix times of a target that
// answers move with virtual time, those of one that does not stand still; 0 stays
// 0. When a sweep fails for good, as after a kill, the state is scraped again once
// the exporter has dropped what is stale, and laid three minutes later, where an
// exporter with the default interval would drop it.
package incident

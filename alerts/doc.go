// Package alerts holds the alert rules of keyhealth and nothing else: there is
// no Go code to import.
//
// keyhealth.rules.yml has the rules, absent.rules.yml the one that fires when
// no exporter is scraped. Both load unchanged into Prometheus 2.42 or later.
// The files that end in _test.yml are unit tests for promtool test rules, one
// topic a file; each threshold is tested right on it and right beside it.
//
// Each alert has a runbook in docs/runbooks, which its annotation names, and
// deploy/prometheusrule.yaml is made of both files for the Prometheus operator.
//
// The tests of this package run promtool on all of them, and prove the unit
// tests: every threshold, duration, severity and guard of the rules is changed
// in a copy, one at a time, and promtool must then fail.
package alerts

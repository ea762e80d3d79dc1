// Package dashboards holds the Grafana dashboard of keyhealth and nothing else:
// there is no Go code to import.
//
// keyhealth.json is the dashboard, for import into Grafana 10.4 or later or for
// its provisioning. It is written by the module in generate/ and not edited by
// hand; that module's tests compare the two and check the file against
// Grafana's own schema.
//
// The tests of this package check what the schema leaves open, prove each of
// these checks with a dashboard that has that fault, and run every query
// against a Prometheus that scrapes real exporters.
package dashboards

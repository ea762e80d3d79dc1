package incident

// docs/incidents.md, made of what the stories did.

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/incidents.md anew")

const page = "../../docs/incidents.md"

const pageHead = `# Incidents and healthy keyspaces

<!-- Generated from testdata/ by what the stories did, with "make docs"; do not edit. -->

Each line is a file that is played on a real Redis, watched by the real exporter, and judged by the shipped rules over virtual time.
An incident fires what is named and nothing else above severity info; a healthy keyspace fires nothing. The minutes behind an alert are
those from the start of the story to its firing: what is there from the start fires after the time that its rule waits.

Seconds to detection are measured: from the last command to a scrape that shows it, by an exporter that is started then and sweeps each
second. With the default interval add up to 60 seconds; the alert is pending with the next evaluation after the next scrape. Most of it
is the second look at keys without TTL, 2 to 3 seconds later, or the third where no window is known. TestEndToEnd measures the whole way
with a real Prometheus and Alertmanager, against the bound: interval + sweep with its second look + one scrape + one evaluation.

## Incidents

| incident | source | alerts | seconds to detection |
|---|---|---|---|
`

const healthyHead = `
## Healthy keyspaces

| keyspace | what it is | alerts |
|---|---|---|
`

const pageTail = `
## Writing one

"TEST_KEYHEALTH_INCIDENTS_DIR=FOLDER go test -run Incidents ./internal/incident" plays the files of another folder. A file:

~~~yaml
name: fractional-window
source: where it was told
story: what happened, in your own words
server: {maxmemory: 64mb, maxmemory-policy: volatile-lru}   # of redis-server
env: {KEYHEALTH_SWEEP_MAX_KEYS: "0"}                        # of the exporter, which sweeps each second unless said here
config: "presets: [kong]"                                   # its CONFIG_FILE
commands:              # before the exporter starts, on one connection; an error ends the file unless may_fail is true
  - {repeat: 500, run: [INCR, "limit:{i}"]}                 # {i} counts from 1
  - {repeat: 500, run: [EXPIRE, "limit:{i}", "0.5"], may_fail: true}
traffic:               # goes on while the exporter looks
  - {per_second: 200, of: 1000, run: [INCR, "api:{i}"], then: [EXPIRE, "api:{i}", "60"], after: 300ms}
set:                   # what no test machine can show; +N/s rises from here on
  keyhealth_memory_system_bytes: 16e9
  'keyhealth_expired_keys_total': +300/s
steps:                 # later states by virtual time, each with commands, traffic, set, expect and
  - {at: 20m, server: {maxmemory: 1gb}}                     # CONFIG SET
  - {at: 1h, kill: true}
  - {at: 2h, restart: true, expect: {metrics: ['keyhealth_up == 1']}}
expect:
  metrics: ['keyhealth_group_keys{group="limit"} == 500']   # all of them in one of the states
  fires: [KeyhealthZombiesPresent]
  quiet: [KeyhealthCallersAtRisk]
  exact: true                                               # and nothing else above severity info
~~~

What is scraped in a state stands until the next one, the last one for two hours.
`

// pageOf is the page of two sets of results.
func pageOf(incidents, healthy map[string]Result) string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, r := range ordered(incidents) {
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f |\n", link(r), cell(r.File.Source), cell(alertList(r)), r.Detected.Seconds())
	}
	b.WriteString(healthyHead)
	for _, r := range ordered(healthy) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", link(r), cell(r.File.Source), cell(alertList(r)))
	}
	b.WriteString(pageTail)
	return b.String()
}

func ordered(results map[string]Result) []Result {
	var list []Result
	for _, r := range results {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Result) int { return strings.Compare(a.File.Path, b.File.Path) })
	return list
}

// link names a story and leads to its file.
func link(r Result) string {
	path := strings.TrimPrefix(filepath.ToSlash(r.File.Path), "../../")
	return fmt.Sprintf("[%s](../%s)", r.File.Name, path)
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "\n", " ").Replace(text)
}

func alertList(r Result) string {
	var names []string
	for _, a := range r.Alerts {
		if a.Fired >= 0 {
			names = append(names, fmt.Sprintf("%s (%s, %s)", strings.TrimPrefix(a.Name, "Keyhealth"), a.Severity, strings.TrimSuffix(a.Fired.String(), "0s")))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// seconds are what differs from run to run.
var seconds = regexp.MustCompile(`\| \d+\.\d \|\n`)

// wantPage compares the page with the results, or writes it.
func wantPage(t *testing.T, incidents, healthy map[string]Result) {
	t.Helper()
	want := pageOf(incidents, healthy)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := seconds.ReplaceAllString(string(got), "|\n"), seconds.ReplaceAllString(want, "|\n"); a != b {
		t.Errorf("%s is not what the stories did: make docs. The first difference:\n%s", page, difference(a, b))
	}
}

// difference is the first line that differs.
func difference(got, want string) string {
	have := strings.Split(got, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(have) || have[i] != line {
			return fmt.Sprintf("have %s\nwant %s", strings.Join(have[min(i, len(have)):min(i+1, len(have))], ""), line)
		}
	}
	return "the end of the page"
}

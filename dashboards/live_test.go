// Every query of the dashboard, in a Prometheus that scrapes real exporters of
// real servers: it runs, it has data, the numbers are right, and a second
// exporter of the same Redis changes none of them.

package dashboards

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"keyhealth/internal/exportertest"
	"keyhealth/internal/redistest"
)

const liveRules = `
groups:
  - {name: ocr, match: "rate_limit:*", window: 10m, limit: 3}
  - {name: "api*", match: "rl:*", max_ttl: 2h}
  - {name: flags, match: "flags:*", ttl: persistent}
`

// fillBare makes 25 keys that nobody has described.
const fillBare = `for i = 1, 25 do redis.call('SET', 'jobs:' .. i, 1) end`

// fillLive makes 30 callers locked out of 90, 10 leaks of 40, 5 keys with a TTL
// too long, 20 that stay by design, one of them a list of 200 elements, and 25 that nobody has described. TTLs are
// minutes away from where a band ends.
const fillLive = `
for i = 1, 90 do
  if i <= 30 then redis.call('SET', 'rate_limit:' .. i, 3) else redis.call('SET', 'rate_limit:' .. i, 3, 'EX', 1150) end
end
for i = 1, 40 do
  if i <= 10 then redis.call('SET', 'rl:' .. i .. ':1600000000', 3)
  elseif i <= 15 then redis.call('SET', 'rl:' .. i .. ':1600000000', 3, 'EX', 400000)
  else redis.call('SET', 'rl:' .. i .. ':1600000000', 3, 'EX', 6000) end
end
for i = 1, 19 do redis.call('SET', 'flags:' .. i, 1) end
for i = 1, 200 do redis.call('RPUSH', 'flags:list', i) end
` + fillBare

// answers are what some panels must show, by title and refId: the target shop
// holds what fillLive makes, bare what fillBare makes and has no rules, gone
// does not answer.
var answers = map[string]series{
	"Targets/A":                        {"": 2},
	"Targets/B":                        {"": 1},
	"Zombies/A":                        {"": 40},
	"Worst group/A":                    {"db=0,group=ocr,target=shop": 30.0 / 90},
	"Callers at risk of lock-out/A":    {"": 30},
	"Keys without TTL/A":               {"": 110.0 / 200},
	"Keys without TTL/B":               {"": 90.0 / 200},
	"Worst group and how sure it is/C": {"db=0,group=ocr,target=shop": 30.0 / 90},
	"Leaks/A":                          {"db=0,group=api*,target=shop": 10, "db=0,group=ocr,target=shop": 0},
	"Lock-out risk and locked out/B":   {"db=0,group=ocr,target=shop": 30},
	"Unique names/A":                   {"db=0,group=jobs:*,target=bare": 0, "db=0,group=api*,target=shop": 1, "db=0,group=flags,target=shop": 0, "db=0,group=jobs:*,target=shop": 0, "db=0,group=ocr,target=shop": 0},
	"Big keys/A":                       {"db=0,group=jobs:*,target=bare": 0, "db=0,group=api*,target=shop": 0, "db=0,group=flags,target=shop": 1, "db=0,group=jobs:*,target=shop": 0, "db=0,group=ocr,target=shop": 0},
	"Excessive TTLs/A":                 {"db=0,group=jobs:*,target=bare": 0, "db=0,group=api*,target=shop": 5, "db=0,group=jobs:*,target=shop": 0, "db=0,group=ocr,target=shop": 0},
	"Keys by TTL/A":                    {"": 40},
	"Keys by TTL/B":                    {"": 50},
	"Keys by TTL/C":                    {"": 20},
	"Keys by TTL/F":                    {"": 60},
	"Keys by TTL/G":                    {"": 25},
	"Coverage/A":                       {"target=bare": 1, "target=shop": 1},
	"Unexplained keys without TTL/A":   {"db=0,target=bare": 1, "db=0,target=shop": 65.0 / 175},
	"Memory against maxmemory/B":       {"node=ADDRESS,target=shop": 64 << 20},
}

// moving are metrics whose value depends on the time of the reading.
var moving = regexp.MustCompile(`\btime\(\)|rate\(|increase\(|_memory_|_seconds|evictable`)

func TestQueries(t *testing.T) {
	redistest.Require(t, "prometheus")
	server := redistest.Start(t, "--maxmemory", "64mb", "--maxmemory-policy", "volatile-lru")
	redistest.Fill(t, server, fillLive)
	rules := filepath.Join(t.TempDir(), "keyhealth.yaml")
	if err := os.WriteFile(rules, []byte(liveRules), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := func(name, url string) exportertest.Settings {
		return exportertest.Settings{"TARGET_NAME": name, "REDIS_URL": url, "CONFIG_FILE": rules, "SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1", "BIG_KEY_ELEMENTS": "200"}
	}
	gone := exportertest.Start(t, settings("gone", fmt.Sprintf("redis://127.0.0.1:%d", redistest.FreePort(t))))
	shop := exportertest.Start(t, settings("shop", server.URL()))
	bareServer := redistest.Start(t)
	redistest.Fill(t, bareServer, fillBare)
	bare := exportertest.Start(t, exportertest.Settings{"TARGET_NAME": "bare", "REDIS_URL": bareServer.URL(), "SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1"})
	shop.Sweeps(t, 1)
	bare.Sweeps(t, 1)
	second := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t)) // where nobody answers yet
	d := dashboardRun{
		t: t, board: parse(t, shipped(t)), server: server,
		prometheus: startPrometheus(t, address(shop), address(bare), address(gone), second),
	}

	first := d.settled(2)
	d.checkAnswers(first)
	d.checkVariables()
	d.checkPicked()

	pair := settings("shop", server.URL())
	pair["WEB_LISTEN_ADDRESS"] = second
	exportertest.Start(t, pair).Sweeps(t, 1)
	both := d.settled(3)
	d.checkPair(first, both)
}

func address(e *exportertest.Exporter) string { return strings.TrimPrefix(e.URL, "http://") }

func (d dashboardRun) checkAnswers(found map[string]series) {
	for name, want := range answers {
		got, ok := found[name]
		if !ok {
			d.t.Errorf("there is no query %s", name)
		}
		expected := series{}
		for labels, value := range want {
			expected[strings.ReplaceAll(labels, "ADDRESS", d.server.Addr())] = value
		}
		if !same(got, expected) {
			d.t.Errorf("%s shows %v, want %v", name, got, expected)
		}
	}
}

// checkVariables asks for the values that the user may pick from.
func (d dashboardRun) checkVariables() {
	want := map[string][]string{"target": {"bare", "gone", "shop"}, "db": {"0"}, "group": {"api*", "flags", "jobs:*", "ocr"}}
	for _, v := range d.board.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(interpolate(v.text(), map[string]string{"target": ".*", "db": ".*"}))
		got, err := d.prometheus.values(parts[2], parts[1])
		if err != nil || !slices.Equal(got, want[v.Name]) {
			d.t.Errorf("variable %s has the values %q (%v), want %q", v.Name, got, err, want[v.Name])
		}
	}
}

// checkPicked picks one target, database and group; Grafana escapes names.
func (d dashboardRun) checkPicked() {
	found := d.run(map[string]string{"target": "shop", "db": "0", "group": `api\\*`})
	for name, want := range map[string]series{
		"Zombies/A":     {"": 10},
		"Worst group/A": {"db=0,group=api*,target=shop": 10.0 / 40},
		"Leaks/A":       {"db=0,group=api*,target=shop": 10},
	} {
		if !same(found[name], want) {
			d.t.Errorf("with one group picked %s shows %v, want %v", name, found[name], want)
		}
	}
	for _, series := range d.run(map[string]string{"target": "nobody", "db": "9", "group": "none"}) {
		if len(series) > 0 {
			d.t.Errorf("with nothing picked a panel shows %v", series)
		}
	}
}

// checkPair compares what one exporter of a Redis shows and what two do.
func (d dashboardRun) checkPair(one, two map[string]series) {
	for _, p := range d.board.Panels {
		for _, q := range p.Targets {
			name := p.Title + "/" + q.RefID
			if !slices.Equal(one[name].labels(), two[name].labels()) {
				d.t.Errorf("%s has the series %q with one exporter and %q with two", name, one[name].labels(), two[name].labels())
			}
			if !moving.MatchString(q.Expr) && !same(one[name], two[name]) {
				d.t.Errorf("%s shows %v with one exporter and %v with two", name, one[name], two[name])
			}
		}
	}
}

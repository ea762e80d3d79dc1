package incident

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const story = `
name: kong-sync-path
source: Kong/kong#14995
unknown: {is: ignored}
server: {maxmemory: 64mb, maxmemory-policy: volatile-lru, databases: 4}
env: {KEYHEALTH_SWEEP_MAX_KEYS: 0}
config: "presets: [kong]"
commands:
  - {repeat: 500, run: [SET, "r:{i}", 3, EX, "1698000000000"]}
  - {run: SELECT 3, may_fail: true}
  - [INCR, a]
traffic:
  - {per_second: 10, run: [INCR, "k:{i}"], then: [EXPIRE, "k:{i}", 60], after: 300ms}
steps:
  - {at: 20m, server: {maxmemory: 1gb}, kill: true, set: {keyhealth_memory_rss_bytes: 14e9, 'keyhealth_evicted_keys_total{node="a"}': +2/s}}
  - {at: 1d2h, restart: true, set: ['keyhealth_up = 0', keyhealth_groups 7], expect: {fires: [A]}}
expect:
  metrics: ['keyhealth_group_excessive_ttl_keys{group="kong"} == 500']
  fires: [KeyhealthTTLExcessive]
  quiet: [KeyhealthZombieRatioHigh]
  exact: true
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "story.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	f, err := Read(write(t, story))
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "kong-sync-path" || f.Config != "presets: [kong]" || f.Server["databases"] != "4" || f.Env["KEYHEALTH_SWEEP_MAX_KEYS"] != "0" {
		t.Errorf("the head: %+v", f)
	}
	want := []Command{
		{Repeat: 500, Run: Words{"SET", "r:{i}", "3", "EX", "1698000000000"}},
		{Run: Words{"SELECT", "3"}, MayFail: true},
		{Run: Words{"INCR", "a"}},
	}
	if !reflect.DeepEqual(f.Start.Run, want) {
		t.Errorf("commands %+v, want %+v", f.Start.Run, want)
	}
	if k := f.Start.Traffic[0]; k.PerSecond != 10 || time.Duration(k.After) != 300*time.Millisecond || len(k.Then) != 3 {
		t.Errorf("traffic: %+v", k)
	}
	if f.Start.Change != nil || !f.Start.Expect.Exact || len(f.Start.Expect.Metrics) != 1 {
		t.Errorf("the start: %+v", f.Start)
	}
	first, second := f.Steps[0], f.Steps[1]
	if !first.Kill || first.Change["maxmemory"] != "1gb" || len(first.Set) != 2 || first.Set[0].value != 14e9 || first.Set[1].slope != 2 {
		t.Errorf("the first step: %+v", first)
	}
	if time.Duration(second.At) != 26*time.Hour || !second.Restart || len(second.Set) != 2 || second.Set[1].value != 7 || second.Expect.Fires[0] != "A" {
		t.Errorf("the second step: %+v", second)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"steps: [{at: 20m}, {at: 10m}]": "not after",
		"steps: [{kill: true}]":         "not after",
		"steps: [{at: soon}]":           "soon",
		"set: {'a b': 1}":               "NAME{LABELS}",
		"set: {a: much}":                "much",
		"commands: {":                   "yaml",
	} {
		if _, err := Read(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one about %q", text, err, want)
		}
	}
	if _, err := ReadFolder(t.TempDir()); err == nil {
		t.Error("a folder without files is no error")
	}
}

func TestNameAndConfigByDefault(t *testing.T) {
	f, err := Read(write(t, "config: {presets: [kong]}"))
	if err != nil || f.Name != "story" || f.Config != "{presets: [kong]}\n" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestConditions(t *testing.T) {
	samples := []Sample{
		{Name: "a", Labels: map[string]string{"group": "x<y", "db": "0"}, Value: 5},
		{Name: "a", Labels: map[string]string{"group": "z", "db": "1"}, Value: 7},
	}
	for text, miss := range map[string]string{
		"a == 5":                          "is 7",
		"a >= 5":                          "",
		`a{group="x<y"} == 5`:             "",
		`a{group!="z"} < 6`:               "",
		`a{group=~"x.*|z",db="1"} == 7.0`: "",
		`a{group!~"x.*"} != 7`:            "is 7",
		"a > 5":                           "is 5",
		"a <= 6e0":                        "is 7",
		"b == 0":                          "no such series",
		`a{db="2"} >= 0`:                  "no such series",
		`a{db='0'} == 5`:                  "",
	} {
		condition, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := condition.Miss(samples); (got == "") != (miss == "") || !strings.Contains(got, miss) {
			t.Errorf("%s: %q, want %q", text, got, miss)
		}
	}
	for _, text := range []string{"a", "a == x", "{} == 1", `a{group} == 1`, `a{group=~"("} == 1`} {
		if _, err := ParseCondition(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

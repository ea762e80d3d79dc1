package main

import (
	"fmt"
	"strings"
	"testing"

	"keyhealth/collector/spec"
)

// describeTarget is all that this package decides of a target, as text.
func describeTarget(target spec.Target) string {
	e, words := target.Endpoint, []string{}
	add := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "[]" && text != "0" && text != "0s" {
			words = append(words, name+"="+text)
		}
	}
	add("at", append([]string{e.Network, e.Address}, target.Seeds...))
	add("user", e.Username)
	add("password", e.Password)
	add("file", e.PasswordFile)
	if e.TLS != nil {
		add("tls", *e.TLS)
	}
	add("cluster", int(target.Cluster))
	if s := target.Sentinel; s != nil {
		add("sentinel", *s)
	}
	add("replicas", target.Replicas)
	add("databases", target.Databases)
	for _, rule := range target.Rules {
		add("group", rule.Name)
	}
	for _, preset := range target.Presets {
		add("preset", preset.Name)
	}
	add("depth", target.Discovery.Depth)
	add("interval", target.Sweep.Interval)
	add("max", target.Sweep.MaxKeys)
	add("timeout", target.Sweep.Timeout)
	add("full", target.Sweep.FullTimeout)
	return strings.Join(words, " ")
}

func loadFile(t *testing.T, env map[string]string, content string) (*config, []problem) {
	t.Helper()
	full := map[string]string{"KEYHEALTH_CONFIG_FILE": writeFile(t, content)}
	for name, value := range env {
		full[prefix+name] = value
	}
	setenv(t, full)
	return load(flags{})
}

// TestTargetsOfTheFile: what a target does not say is what the environment says,
// but for what it has no use for.
func TestTargetsOfTheFile(t *testing.T) {
	certificate, _ := writeCertificate(t)
	cfg, problems := loadFile(t, map[string]string{
		"REDIS_USERNAME":         "app",
		"REDIS_PASSWORD":         "p",
		"REDIS_TLS_CA_FILE":      certificate,
		"SENTINEL_PASSWORD_FILE": "testdata/password",
		"DATABASES":              "0,2",
		"SWEEP_INTERVAL":         "20s",
		"SWEEP_MAX_KEYS":         "500",
		"GROUPS":                 "quick:*",
		"PRESETS":                "kong",
	}, `
groups: [{name: top, match: "top:*"}]
discovery: {depth: 5}
targets:
  - {name: plain, url: "redis://h"}
  - {name: url-database, url: "redis://h/7"}
  - {name: own-file, url: "redis://h", password_file: testdata/password}
  - {name: own-user, url: "redis://h", username: other}
  - {name: nobody, url: "redis://h", username: "", password_file: ""}
  - {name: tls, url: "rediss://h1,h2", tls: {server_name: s, skip_verify: true}, databases: 0, cluster: true}
  - {name: watched, url: "redis+sentinel://s1,s2/m", databases: [1], sentinel: {username: su}, prefer_replica: "false"}
  - {name: proxy, url: "redis://h", cluster: false, databases: all, sweep: {interval: 1h, max_keys: 0, timeout: 2h, pool: null}}
  - {name: own-groups, url: "redis://h", groups: [{name: mine, match: "mine:*"}], presets: [redis-rate], discovery: {enabled: true}}
  - {name: none, url: "redis://h", groups: [], presets: []}
  - {name: nulls, url: "redis://h", groups: , presets: , discovery: , sweep: , username: }
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const (
		user   = " user=app password=p"
		same   = " replicas=true databases=[0 2]"
		groups = " group=quick:* group=top preset=kong depth=5"
		sweep  = " interval=20s max=500 timeout=10m0s"
	)
	want := map[string]string{
		"plain":        "at=[tcp h:6379]" + user + same + groups + sweep,
		"url-database": "at=[tcp h:6379]" + user + " replicas=true databases=[7]" + groups + sweep,
		"own-file":     "at=[tcp h:6379] user=app file=testdata/password" + same + groups + sweep,
		"own-user":     "at=[tcp h:6379] user=other password=p" + same + groups + sweep,
		"nobody":       "at=[tcp h:6379]" + same + groups + sweep,
		"tls":          "at=[tcp h1:6379 h2:6379]" + user + " tls={" + certificate + "   s true} cluster=1 replicas=true databases=[0]" + groups + sweep,
		"watched":      "at=[tcp s1:26379 s2:26379]" + user + " sentinel={m su  testdata/password} replicas=false databases=[1]" + groups + sweep,
		"proxy":        "at=[tcp h:6379]" + user + " cluster=2 replicas=true" + groups + " interval=1h0m0s timeout=2h0m0s full=2h0m0s",
		"own-groups":   "at=[tcp h:6379]" + user + same + " group=mine preset=redis-rate depth=3" + sweep,
		"none":         "at=[tcp h:6379]" + user + same + " depth=5" + sweep,
		"nulls":        "at=[tcp h:6379]" + user + same + groups + sweep,
	}
	targets := cfg.targets()
	for _, target := range targets {
		if got := describeTarget(target); got != want[target.Name] {
			t.Errorf("%s\ngot  %s\nwant %s", target.Name, got, want[target.Name])
		}
	}
	if len(targets) != len(want) {
		t.Errorf("%d targets, want %d", len(targets), len(want))
	}
}

// TestTargetProblems: each is one line that names the line, the target and the
// key, whatever the environment calls it.
func TestTargetProblems(t *testing.T) {
	tests := []struct{ env, file, want string }{
		{"", "targets:", "line 1: targets must be a list: - {name: ..., url: ...}; without any, remove the key"},
		{"", "targets: []", "line 1: targets must be a list"},
		{"", "targets: {a: b}", "line 1: targets must be a list"},
		{"", "targets:\n- url: redis://h", `line 2: target 1 has no name: add "name: ..."`},
		{"", "targets:\n- name: a", `line 2: target "a": url is missing: say where this Redis is`},
		{"", "targets:\n- name: a\n  url: h", `line 3: target "a": url must begin with redis://`},
		{"", "targets:\n- name: a\n  url: redis://u:p@h", `line 3: target "a": url must not hold a user or password: give username and password_file`},
		{"", "targets:\n- {name: a, url: 'redis://h'}\n- {name: a, url: 'redis://h2'}", `line 3: target "a": name must be different in every target`},
		{"", "targets: [{name: \"a\\tb\", url: 'redis://h'}]", `line 1: target "a\tb": name must be printable text`},
		{"", "targets:\n- name: a\n  url: redis://h\n  sweep:\n    duty: 2", `line 5: target "a": sweep.duty must be a number above 0 and at most 1`},
		{"", "targets:\n- name: a\n  url: redis://h\n  sweep:\n    interval: 60", `line 5: target "a": sweep.interval must be a duration from 1s to 365d`},
		{"", "targets:\n- name: a\n  url: redis://h\n  sweep: {interval: 5m, full_every: 1m}", `line 4: target "a": sweep.full_every must be 0, or a duration not below sweep.interval`},
		{"STALE_AFTER=2m", "targets:\n- name: a\n  url: redis://h\n  sweep: {interval: 5m}", `line 2: target "a": KEYHEALTH_STALE_AFTER must be auto, or a duration not below sweep.interval`},
		{"", "targets:\n- name: a\n  url: redis://h\n  databases: [0, 0]", `line 4: target "a": databases must be all, or numbers`},
		{"", "targets:\n- name: a\n  url: redis://h/1\n  databases: [0]", `line 4: target "a": databases must not be given together with a database in url`},
		{"", "targets:\n- name: a\n  url: redis://h/1\n  cluster: true", `line 3: target "a": url must not hold a database above 0 where cluster is true`},
		{"REDIS_CLUSTER=true", "targets:\n- name: a\n  url: redis+sentinel://h/m", `line 2: target "a": cluster must not be true where url names Sentinels`},
		{"", "targets:\n- name: a\n  url: redis://h\n  tls: {skip_verify: true}", `line 4: target "a": tls.skip_verify needs a url that begins with rediss:// or valkeys://`},
		{"", "targets:\n- name: a\n  url: redis://h\n  sentinel:\n    password_file: x", `line 5: target "a": sentinel.password_file needs a url that begins with redis+sentinel://`},
		{"", "targets:\n- name: a\n  url: redis+sentinel://h/m\n  sentinel: {username: x}", `line 4: target "a": sentinel.username needs sentinel.password_file too`},
		{"", "targets:\n- name: a\n  url: rediss://h\n  tls:\n    cert_file: x", `line 5: target "a": tls.cert_file needs tls.key_file too`},
		{"", "targets:\n- name: a\n  url: redis://h\n  username: x", `line 4: target "a": username needs KEYHEALTH_REDIS_PASSWORD or password_file`},
		{"", "targets:\n- name: a\n  url: redis://h\n  password_file: /absent", `line 4: target "a": password_file must be a file that can be read (no such file or directory)`},
		{"", "targets:\n- name: a\n  url: redis://h\n  cluster: sometimes", `line 4: target "a": cluster must be auto, true or false`},
		{"", "targets:\n- name: a\n  url: redis://h\n  name: b", "line 4: the key name is given twice"},
		{"", "targets:\n- name: a\n  url: redis://h\n  groups:\n  - {name: g, match: m}\n  - {name: g, match: n}", `line 6: target "a": group "g" is described twice`},
		{"", "targets:\n- name: a\n  url: redis://h\n  discovery: {depth: 9}", `target "a": discovery: depth must be from 1 to 8`},
		{"", "targets:\n- name: a\n  url: redis://h\n  sweep:\n    <<: {duty: 0.5}", "line 5: a target must not merge keys with <<"},
		{"", "targets:\n- &a {name: a, url: 'redis://h', groups: [{name: b, match: c, <<: {windw: 1}}]}", "yaml: unmarshal errors: line 2: field windw not found"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			env := map[string]string{}
			if name, value, ok := strings.Cut(test.env, "="); ok {
				env[name] = value
			}
			_, problems := loadFile(t, env, test.file)
			if len(problems) != 1 {
				t.Fatalf("got %d problems: %v", len(problems), problems)
			}
			if line := problems[0].String(); !strings.Contains(line, ".yml") || !strings.Contains(line, test.want) || strings.Contains(line, "\n") {
				t.Errorf("got  %s\nwant %s", line, test.want)
			}
		})
	}
}

// TestEveryKeyOfATargetIsASetting: the table of keys must not drift.
func TestEveryKeyOfATargetIsASetting(t *testing.T) {
	rows := new(settings).table()
	for _, key := range targetKeys() {
		if row := find(rows, key.setting); row.meaning == "" {
			t.Errorf("%s: there is no setting %s", key.name, key.setting)
		}
	}
}

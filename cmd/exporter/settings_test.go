package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/spec"
)

// TestRules has a row for each rule: what breaks it, and the start of the one
// line that says so.
func TestRules(t *testing.T) {
	certificate, key := writeCertificate(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ env, want string }{ // NAME=value, separated by spaces; the line
		{"TARGET_NAME=a\x01b", `KEYHEALTH_TARGET_NAME="a\x01b": must be printable text, for example KEYHEALTH_TARGET_NAME=redis`},
		{"TARGET_NAME=\xff", `KEYHEALTH_TARGET_NAME="\xff": must be printable`},
		{"REDIS_TIMEOUT=0", `KEYHEALTH_REDIS_TIMEOUT="0": must be a duration above 0`},
		{"REDIS_TIMEOUT=-1s", `KEYHEALTH_REDIS_TIMEOUT="-1s": must be a duration above 0`},
		{"DATABASES=0,1,0", `KEYHEALTH_DATABASES="0,1,0": must be all, or numbers`},
		{"DATABASES=2147483648", `KEYHEALTH_DATABASES="2147483648": must be all, or numbers`},
		{"DATABASES=-1", `KEYHEALTH_DATABASES="-1": must be all, or numbers`},
		{"DATABASES=0 REDIS_URL=redis://h/3", `KEYHEALTH_DATABASES: must not be given together with a database in KEYHEALTH_REDIS_URL`},
		{"DATABASES=all REDIS_URL=redis://h/3", `KEYHEALTH_DATABASES: must not be given together`},
		{"SWEEP_INTERVAL=999ms", `KEYHEALTH_SWEEP_INTERVAL="999ms": must be a duration from 1s to 365d, for example KEYHEALTH_SWEEP_INTERVAL=60s`},
		{"SWEEP_MAX_KEYS=-1", `KEYHEALTH_SWEEP_MAX_KEYS="-1": must be a whole number from 0 to 1000000000000`},
		{"SWEEP_DUTY=0", `KEYHEALTH_SWEEP_DUTY="0": must be a number above 0 and at most 1, for example KEYHEALTH_SWEEP_DUTY=0.10`},
		{"SWEEP_DUTY=1.01", `KEYHEALTH_SWEEP_DUTY="1.01": must be a number above 0`},
		{"SWEEP_DUTY=NaN", `KEYHEALTH_SWEEP_DUTY="NaN": must be a number above 0`},
		{"SWEEP_DUTY=10%", `KEYHEALTH_SWEEP_DUTY="10%": must be a number above 0`},
		{"SWEEP_SCAN_COUNT=9", `KEYHEALTH_SWEEP_SCAN_COUNT="9": must be a whole number from 10 to 1000`},
		{"SWEEP_SCAN_COUNT=1001", `KEYHEALTH_SWEEP_SCAN_COUNT="1001": must be`},
		{"SWEEP_TIMEOUT=soon", `KEYHEALTH_SWEEP_TIMEOUT="soon": must be a duration, 0 for none, for example KEYHEALTH_SWEEP_TIMEOUT=10m`},
		{"STALE_AFTER=59s", `KEYHEALTH_STALE_AFTER="59s": must be auto, or a duration not below KEYHEALTH_SWEEP_INTERVAL, for example KEYHEALTH_STALE_AFTER=5m`},
		{"STALE_AFTER=0", `KEYHEALTH_STALE_AFTER="0": must be auto`},
		{"SWEEP_INTERVAL=366d", `KEYHEALTH_SWEEP_INTERVAL="366d": must be a duration from 1s to 365d`},
		{"SWEEP_MAX_KEYS=1000000000001", `KEYHEALTH_SWEEP_MAX_KEYS="1000000000001": must be`},
		{"SWEEP_FULL_EVERY=59s", `KEYHEALTH_SWEEP_FULL_EVERY="59s": must be 0, or a duration not below KEYHEALTH_SWEEP_INTERVAL, for example KEYHEALTH_SWEEP_FULL_EVERY=6h`},
		{"SWEEP_POOL=0", `KEYHEALTH_SWEEP_POOL="0": must be a whole number from 1 to 100, for example KEYHEALTH_SWEEP_POOL=10`},
		{"SWEEP_POOL=101", `KEYHEALTH_SWEEP_POOL="101": must be`},
		{"BIG_KEY_BYTES=1mb", `KEYHEALTH_BIG_KEY_BYTES="1mb": must be a size from 1KiB to 1PiB, for example KEYHEALTH_BIG_KEY_BYTES=512KiB`},
		{"BIG_KEY_BYTES=1023", `KEYHEALTH_BIG_KEY_BYTES="1023": must be a size`},
		{"BIG_KEY_BYTES=2PiB", `KEYHEALTH_BIG_KEY_BYTES="2PiB": must be a size`},
		{"BIG_KEY_ELEMENTS=99", `KEYHEALTH_BIG_KEY_ELEMENTS="99": must be a whole number from 100`},
		{"BIG_KEY_ELEMENTS=1000000000001", `KEYHEALTH_BIG_KEY_ELEMENTS="1000000000001": must be`},
		{"BIG_KEY_BUDGET=9", `KEYHEALTH_BIG_KEY_BUDGET="9": must be 0, or a whole number from 10 to 100000, for example KEYHEALTH_BIG_KEY_BUDGET=1000`},
		{"BIG_KEY_BUDGET=100001", `KEYHEALTH_BIG_KEY_BUDGET="100001": must be`},
		{"SELFTEST_INTERVAL=9s", `KEYHEALTH_SELFTEST_INTERVAL="9s": must be 0, or a duration from 10s to 365d, for example KEYHEALTH_SELFTEST_INTERVAL=1h`},
		{"SELFTEST_INTERVAL=366d", `KEYHEALTH_SELFTEST_INTERVAL="366d": must be 0, or`},
		{"MAX_GROUPS=0", `KEYHEALTH_MAX_GROUPS="0": must be a whole number from 1 to 10000`},
		{"MAX_GROUPS=10001", `KEYHEALTH_MAX_GROUPS="10001": must be`},
		{"MEMORY_SAMPLES=-1", `KEYHEALTH_MEMORY_SAMPLES="-1": must be a whole number from 0 to 10000`},
		{"MEMORY_SAMPLES=10001", `KEYHEALTH_MEMORY_SAMPLES="10001": must be`},
		{"WEB_LISTEN_ADDRESS=10121", `KEYHEALTH_WEB_LISTEN_ADDRESS="10121": must be [host]:port, several separated by commas, for example KEYHEALTH_WEB_LISTEN_ADDRESS=:10121`},
		{"WEB_LISTEN_ADDRESS=:1,:x", `KEYHEALTH_WEB_LISTEN_ADDRESS=":1,:x": must be`},
		{"WEB_TELEMETRY_PATH=metrics", `KEYHEALTH_WEB_TELEMETRY_PATH="metrics": must be a path`},
		{"WEB_TELEMETRY_PATH=/", `KEYHEALTH_WEB_TELEMETRY_PATH="/": must be a path`},
		{"WEB_TELEMETRY_PATH=/a/", `KEYHEALTH_WEB_TELEMETRY_PATH="/a/": must be a path`},
		{"WEB_TELEMETRY_PATH=/-/ready", `KEYHEALTH_WEB_TELEMETRY_PATH="/-/ready": must be a path`},
		{"WEB_TELEMETRY_PATH=/{a}", `KEYHEALTH_WEB_TELEMETRY_PATH="/{a}": must be a path`},
		{"WEB_CONFIG_FILE=/absent", `KEYHEALTH_WEB_CONFIG_FILE="/absent": must be a web configuration file (no such file or directory), for example`},
		{"WEB_CONFIG_FILE=testdata/groups.yml", `KEYHEALTH_WEB_CONFIG_FILE="testdata/groups.yml": must be a web configuration file (yaml: unmarshal errors: line 1: field groups not found in type web.`},
		{"WEB_CONFIG_FILE=testdata/plain-password.yml", `KEYHEALTH_WEB_CONFIG_FILE="testdata/plain-password.yml": must be a web configuration file (a password of basic_auth_users is no bcrypt hash`},
		{"LOG_LEVEL=" + strings.Repeat("x", 81), `KEYHEALTH_LOG_LEVEL="` + strings.Repeat("x", 80) + `...": must be debug`},
		{"LOG_LEVEL=INFO", `KEYHEALTH_LOG_LEVEL="INFO": must be debug, info, warn or error`},
		{"LOG_FORMAT=xml", `KEYHEALTH_LOG_FORMAT="xml": must be logfmt or json`},
		{"GROUPS=a*@soon", `KEYHEALTH_GROUPS: group "a*@soon": what follows @ must be a window`},
		{"GROUPS=a,a", `KEYHEALTH_GROUPS: group "a" is described twice: give one rule a list of globs instead, which needs KEYHEALTH_CONFIG_FILE`},
		{"GROUPS=login=l:* CONFIG_FILE=testdata/groups.yml", `KEYHEALTH_GROUPS: together with KEYHEALTH_CONFIG_FILE: group "login" is described twice`},
		{"PRESETS=king", `KEYHEALTH_PRESETS="king": there is no preset "king", the nearest is kong; docs/presets.md lists them, for example KEYHEALTH_PRESETS=distinctive,kong`},
		{"PRESETS=distinctive,redis_rate", `KEYHEALTH_PRESETS="distinctive,redis_rate": there is no preset "redis_rate", the nearest is redis-rate;`},
		{"PRESETS=al", `KEYHEALTH_PRESETS="al": there is no preset "al", the nearest is all;`},
		{"PRESETS=none,kong", `KEYHEALTH_PRESETS="none,kong": none stands alone, for example`},
		{"PRESETS=kong,", `KEYHEALTH_PRESETS="kong,": must be distinctive, all, none, or names of presets, separated by commas, for example`},
		{"PRESETS=redis://app:hunter2@h", `KEYHEALTH_PRESETS: must be distinctive, all, none, or names`},
		{"PRESETS=all CONFIG_FILE=testdata/presets.yml", `KEYHEALTH_PRESETS: must not be given together with presets in KEYHEALTH_CONFIG_FILE`},
		{"CONFIG_FILE=/absent", `KEYHEALTH_CONFIG_FILE="/absent": must be a YAML file that can be read (no such file or directory), for example`},
		{"REDIS_USERNAME=app", `KEYHEALTH_REDIS_USERNAME: needs KEYHEALTH_REDIS_PASSWORD or`},
		{"REDIS_URL=redis://app@h", `KEYHEALTH_REDIS_URL: holds a user without password`},
		{"REDIS_URL=redis://:p@h REDIS_USERNAME=app", `KEYHEALTH_REDIS_URL: holds a user or password: give both in the URL, or both as settings`},
		{"REDIS_URL=redis://:p@h REDIS_PASSWORD_FILE=testdata/password", `KEYHEALTH_REDIS_URL: holds a user or password`},
		{"REDIS_PASSWORD=p REDIS_PASSWORD_FILE=testdata/password", `KEYHEALTH_REDIS_PASSWORD: must not be given together with KEYHEALTH_REDIS_PASSWORD_FILE`},
		{"REDIS_PASSWORD_FILE=testdata", `KEYHEALTH_REDIS_PASSWORD_FILE: must be a file that can be read (is a directory)`},
		{"REDIS_PASSWORD_FILE=" + empty, `KEYHEALTH_REDIS_PASSWORD_FILE: must be a file that can be read (it is empty)`},
		{"REDIS_CLUSTER=yes", `KEYHEALTH_REDIS_CLUSTER="yes": must be auto, true or false, for example KEYHEALTH_REDIS_CLUSTER=true`},
		{"REDIS_CLUSTER=true REDIS_URL=redis://h/1", `KEYHEALTH_REDIS_URL: must not hold a database above 0 where KEYHEALTH_REDIS_CLUSTER is true`},
		{"REDIS_CLUSTER=true DATABASES=0,1", `KEYHEALTH_DATABASES: must be all or 0 where KEYHEALTH_REDIS_CLUSTER is true`},
		{"REDIS_CLUSTER=true REDIS_URL=redis+sentinel://h/m", `KEYHEALTH_REDIS_CLUSTER: must not be true where KEYHEALTH_REDIS_URL names Sentinels`},
		{"REDIS_CLUSTER=true REDIS_URL=unix:///s", `KEYHEALTH_REDIS_CLUSTER: must not be true where KEYHEALTH_REDIS_URL names a socket`},
		{"REDIS_CLUSTER=false REDIS_URL=redis://h1,h2", `KEYHEALTH_REDIS_URL: must hold one address where KEYHEALTH_REDIS_CLUSTER is false`},
		{"REDIS_URL=unix:///a,/b", `KEYHEALTH_REDIS_URL: must hold one socket: several seeds are addresses of the form host:port, for example KEYHEALTH_REDIS_URL=unix:///run/redis/redis.sock`},
		{"REDIS_URL=redis://h1,h2:x", `KEYHEALTH_REDIS_URL: has a seed that cannot be read: they are written host:port and separated by commas, for example KEYHEALTH_REDIS_URL=redis://redis-1.example:6379,redis-2.example:6379`},
		{"REDIS_URL=redis+sentinel://h", `KEYHEALTH_REDIS_URL: must name the set that the Sentinels watch, by letters, digits and . _ -: redis+sentinel://HOST:PORT,HOST:PORT/mymaster, for example KEYHEALTH_REDIS_URL=redis+sentinel://redis-1.example:26379`},
		{"REDIS_PREFER_REPLICA=1", `KEYHEALTH_REDIS_PREFER_REPLICA="1": must be auto, true or false, for example KEYHEALTH_REDIS_PREFER_REPLICA=false`},
		{"REDIS_PREFER_REPLICA=true REDIS_CLUSTER=false", `KEYHEALTH_REDIS_PREFER_REPLICA: must not be true for a single server`},
		{"REDIS_PREFER_REPLICA=true REDIS_URL=unix:///s", `KEYHEALTH_REDIS_PREFER_REPLICA: must not be true for a single server`},
		{"SENTINEL_PASSWORD_FILE=testdata/password", `KEYHEALTH_SENTINEL_PASSWORD_FILE: needs a KEYHEALTH_REDIS_URL that begins with redis+sentinel://`},
		{"SENTINEL_USERNAME=app", `KEYHEALTH_SENTINEL_USERNAME: needs a KEYHEALTH_REDIS_URL that begins with redis+sentinel://`},
		{"SENTINEL_USERNAME=app REDIS_URL=redis+sentinel://h/m", `KEYHEALTH_SENTINEL_USERNAME: needs KEYHEALTH_SENTINEL_PASSWORD_FILE too`},
		{"SENTINEL_PASSWORD_FILE=/absent REDIS_URL=redis+sentinel://h/m", `KEYHEALTH_SENTINEL_PASSWORD_FILE: must be a file that can be read (no such file or directory)`},
		{"REDIS_URL=redis://h CONFIG_FILE=testdata/targets.yml", `KEYHEALTH_REDIS_URL: must not be given together with targets in KEYHEALTH_CONFIG_FILE`},
		{"TARGET_NAME=a CONFIG_FILE=testdata/targets.yml", `KEYHEALTH_TARGET_NAME: must not be given together with targets in KEYHEALTH_CONFIG_FILE`},
		{"WEB_ENABLE_LIFECYCLE=on", `KEYHEALTH_WEB_ENABLE_LIFECYCLE="on": must be true or false, for example KEYHEALTH_WEB_ENABLE_LIFECYCLE=true`},
		{"REDIS_TLS_SKIP_VERIFY=yes", `KEYHEALTH_REDIS_TLS_SKIP_VERIFY="yes": must be true or false, for example KEYHEALTH_REDIS_TLS_SKIP_VERIFY=true`},
		{"REDIS_TLS_SERVER_NAME=h REDIS_URL=h", `KEYHEALTH_REDIS_URL: must begin with`}, // and no word about TLS
		{"REDIS_TLS_SERVER_NAME=h", `KEYHEALTH_REDIS_TLS_SERVER_NAME: needs a KEYHEALTH_REDIS_URL that begins with rediss://`},
		{"REDIS_URL=rediss://h REDIS_TLS_CA_FILE=testdata/web.yml", `KEYHEALTH_REDIS_TLS_CA_FILE="testdata/web.yml": must be a PEM file with certificates (`},
		{"REDIS_URL=rediss://h REDIS_TLS_CERT_FILE=" + certificate, `KEYHEALTH_REDIS_TLS_CERT_FILE: needs KEYHEALTH_REDIS_TLS_KEY_FILE too`},
		{"REDIS_URL=rediss://h REDIS_TLS_KEY_FILE=" + key, `KEYHEALTH_REDIS_TLS_KEY_FILE: needs KEYHEALTH_REDIS_TLS_CERT_FILE too`},
		{"REDIS_URL=rediss://h REDIS_TLS_CERT_FILE=testdata/web.yml REDIS_TLS_KEY_FILE=" + key, `KEYHEALTH_REDIS_TLS_CERT_FILE="testdata/web.yml": must be a PEM file with the client certificate of KEYHEALTH_REDIS_TLS_KEY_FILE (`},
	}
	for _, row := range new(settings).table() {
		mentions := func(test struct{ env, want string }) bool { return strings.HasPrefix(test.want, row.name) }
		if row.rule != "" && !slices.ContainsFunc(tests, mentions) {
			t.Errorf("%s has a rule that no row breaks", row.name)
		}
	}
	for _, test := range tests {
		t.Run(test.env, func(t *testing.T) {
			env := map[string]string{}
			for pair := range strings.FieldsSeq(test.env) {
				name, value, _ := strings.Cut(pair, "=")
				env[prefix+name] = value
			}
			for _, command := range []string{"serve", "check-config"} {
				got := runWith(t, maps.Clone(env), command)
				if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, "keyhealth: "+test.want) || strings.Count(got.stderr, "\n") != 1 {
					t.Errorf("%s: got %swant %s", command, got, test.want)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	const unknown = "no such setting, the nearest is %s;"
	tests := []struct {
		name, value string
		want        string // in the line of stderr; empty: accepted
	}{
		{"KEYHEALTH_REDIS_ULR", "redis://h", fmt.Sprintf(unknown, "KEYHEALTH_REDIS_URL")},
		{"KEYHEALTH_SWEEP_INTERVALL", "1s", fmt.Sprintf(unknown, "KEYHEALTH_SWEEP_INTERVAL")},
		{"KEYHEALTH_GROUP", "a", fmt.Sprintf(unknown, "KEYHEALTH_GROUPS")},
		{"KEYHEALTH_REDIS_TLS_CAFILE", "a", fmt.Sprintf(unknown, "KEYHEALTH_REDIS_TLS_CA_FILE")},
		{"KEYHEALTH_PRESET", "a", fmt.Sprintf(unknown, "KEYHEALTH_PRESETS")},
		{"KEYHEALTH_VERBOSITY", "9", "KEYHEALTH_VERBOSITY: no such setting; keyhealth --help"},
		{"KEYHEALTH_REDIS_ULR", "", ""},
		{"KEYHEALTH_SELFTEST_INTERVAL", "5m", ""},
		{"KEYHEALTH_SELFTEST_INTERVAL", "", ""},
		{"KEYHEALTH_REDIS_CLUSTER", "auto", ""},
		{"KEYHEALTH_SENTINEL_PASSWORD", "p", fmt.Sprintf(unknown, "KEYHEALTH_SENTINEL_PASSWORD_FILE")},
		{"REDIS_URL", "nonsense", ""}, // without the prefix it is not ours

		{"KEYHEALTH_SERVICE_HOST", "10.0.0.7", ""},
		{"KEYHEALTH_SERVICE_PORT", "10121", ""},
		{"KEYHEALTH_SERVICE_PORT_HTTP", "10121", ""},
		{"KEYHEALTH_PORT", "tcp://10.0.0.7:10121", ""},
		{"KEYHEALTH_PORT", "10121", "no such setting"},
		{"KEYHEALTH_PORT_10121_TCP", "tcp://10.0.0.7:10121", ""},
		{"KEYHEALTH_PORT_10121_TCP_PROTO", "tcp", ""},
		{"KEYHEALTH_PORT_10121_TCP_PORT", "10121", ""},
		{"KEYHEALTH_PORT_10121_TCP_ADDR", "10.0.0.7", ""},
		{"KEYHEALTH_PORT_53_UDP", "udp://10.0.0.7:53", ""},
		{"KEYHEALTH_PORT_53_UDP_ADDR", "10.0.0.7", ""},
		{"KEYHEALTH_REDIS_SERVICE_HOST", "10.0.0.8", ""},
		{"KEYHEALTH_REDIS_PORT", "udp://10.0.0.8:6379", ""},
		{"KEYHEALTH_REDIS_PORT_6379_TCP_ADDR", "10.0.0.8", ""},
		{"KEYHEALTH_REDIS_PORT", "6379", "no such setting"},
		{"KEYHEALTH_PORT_10121_TCP_ADR", "10.0.0.7", "no such setting"},
	}
	for _, test := range tests {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			got := runWith(t, map[string]string{test.name: test.value}, "check-config")
			switch {
			case test.want == "" && got.code == exitFine && got.stderr == "":
			case test.want != "" && got.code == exitUsage && strings.HasPrefix(got.stderr, "keyhealth: "+test.name+": ") &&
				strings.Contains(got.stderr, test.want) && strings.Count(got.stderr, "\n") == 1:
			default:
				t.Errorf("got %swant %q", got, test.want)
			}
		})
	}
}

func TestDefaultsAreThoseOfTheCollector(t *testing.T) {
	setenv(t, nil)
	cfg, problems := load(flags{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, want := cfg.target().Sweep, spec.DefaultSweep(); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTarget(t *testing.T) {
	certificate, key := writeCertificate(t)
	setenv(t, map[string]string{
		"KEYHEALTH_REDIS_URL":             "valkeys://app:p%40ss@[::1]/7",
		"KEYHEALTH_REDIS_TLS_CA_FILE":     certificate,
		"KEYHEALTH_REDIS_TLS_CERT_FILE":   certificate,
		"KEYHEALTH_REDIS_TLS_KEY_FILE":    key,
		"KEYHEALTH_REDIS_TIMEOUT":         "1m",
		"KEYHEALTH_GROUPS":                "a",
		"KEYHEALTH_CONFIG_FILE":           "testdata/groups.yml",
		"KEYHEALTH_SWEEP_SCAN_COUNT":      "010", // decimal
		"KEYHEALTH_STALE_AFTER":           "1w",
		"KEYHEALTH_MEMORY_SAMPLES":        "0",
		"KEYHEALTH_WEB_TELEMETRY_PATH":    "/metrics/redis",
		"KEYHEALTH_WEB_LISTEN_ADDRESS":    "localhost:0",
		"KEYHEALTH_REDIS_TLS_SERVER_NAME": "h",
	})
	cfg, problems := load(flags{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := cfg.target()
	names := []string{}
	for _, rule := range got.Rules {
		names = append(names, rule.Name)
	}
	e := got.Endpoint
	text := fmt.Sprint(e.Network, " ", e.Address, " ", e.Username, " ", e.Password, " ", e.Timeout, " ", *e.TLS, " ", got.Databases, " ", names)
	want := fmt.Sprintf("tcp [::1]:6379 app p@ss 1m0s {%s %s %s h false} [7] [a login cache tab\there]", certificate, certificate, key)
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if got.Sweep.ScanCount != 10 || got.Sweep.StaleAfter != 7*24*time.Hour || got.Sweep.MemorySamples != 0 {
		t.Errorf("%+v", got.Sweep)
	}
}

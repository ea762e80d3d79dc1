package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write golden files and generated pages anew")

func TestMain(m *testing.M) {
	if os.Getenv("TEST_KEYHEALTH_BE_MAIN") != "" {
		main() // this binary is the program: see TestSignals
	}
	goleak.VerifyTestMain(m)
}

// outcome is what a run of the program left.
type outcome struct {
	code           int
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\n--- stdout\n%s--- stderr\n%s", o.code, o.stdout, o.stderr)
}

// setenv makes env the only part of the environment that is ours.
func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, prefix) {
			t.Setenv(name, "")
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// runWith runs the program to its end. The context has ended before it starts,
// so that serve stops at once.
func runWith(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	setenv(t, env)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func TestOutput(t *testing.T) {
	valid := map[string]string{
		"KEYHEALTH_TARGET_NAME":            "shop",
		"KEYHEALTH_REDIS_URL":              "rediss://redis.example:6380/3",
		"KEYHEALTH_REDIS_USERNAME":         "alice9",
		"KEYHEALTH_REDIS_PASSWORD_FILE":    "testdata/password",
		"KEYHEALTH_REDIS_TLS_SKIP_VERIFY":  "true",
		"KEYHEALTH_REDIS_TLS_SERVER_NAME":  "redis.internal",
		"KEYHEALTH_GROUPS":                 "ocr=rate_limit:ocr:*@60s, flags:*@persistent",
		"KEYHEALTH_PRESETS":                "kong, redis-rate",
		"KEYHEALTH_CONFIG_FILE":            "testdata/groups.yml",
		"KEYHEALTH_SWEEP_INTERVAL":         "90s",
		"KEYHEALTH_SWEEP_MAX_KEYS":         "0",
		"KEYHEALTH_SWEEP_TIMEOUT":          "0",
		"KEYHEALTH_STALE_AFTER":            "1d",
		"KEYHEALTH_WEB_LISTEN_ADDRESS":     "127.0.0.1:10121, [::1]:10121",
		"KEYHEALTH_LOG_LEVEL":              "warn",
		"KEYHEALTH_DATABASES":              "", // counts as unset
		"KEYHEALTH_SERVICE_HOST":           "10.0.0.7",
		"KEYHEALTH_REDIS_PORT":             "tcp://10.0.0.8:6379",
		"KEYHEALTH_REDIS_PORT_6379_TCP":    "tcp://10.0.0.8:6379",
		"KEYHEALTH_REDIS_SERVICE_PORT_RDB": "6379",
	}
	unparsed := map[string]string{
		"KEYHEALTH_REDIS_URL":             "redis://h:port",
		"KEYHEALTH_REDIS_TIMEOUT":         "3",
		"KEYHEALTH_REDIS_TLS_SKIP_VERIFY": "yes",
		"KEYHEALTH_DATABASES":             "0,1,x",
		"KEYHEALTH_SWEEP_MAX_KEYS":        "many",
		"KEYHEALTH_SWEEP_DUTTY":           "0.5",
		"KEYHEALTH_PRESETS":               "distinctive,king",
	}
	tests := []struct {
		golden string
		env    map[string]string
		args   []string
	}{
		{"help", nil, []string{"--help"}},
		{"check-defaults", nil, []string{"check-config"}},
		{"check-settings", valid, []string{"check-config", "--log.level=debug"}},
		{"check-doubts", map[string]string{"KEYHEALTH_GROUPS": `limits=^limit:.*@60s,login=login:@60s,all=*@1h,ocr=ocr:*@60s@persistent`, "KEYHEALTH_BIG_KEY_BYTES": "1MB"}, []string{"check-config"}},
		{"check-targets", map[string]string{"KEYHEALTH_CONFIG_FILE": "testdata/targets.yml", "KEYHEALTH_REDIS_PASSWORD": "hunter2"}, []string{"check-config"}},
		{"acl", nil, []string{"acl"}},
		{"acl-selftest", map[string]string{"KEYHEALTH_SELFTEST_INTERVAL": "1h"}, []string{"acl"}},
		{"acl-selftest-6.2", map[string]string{"KEYHEALTH_SELFTEST_INTERVAL": "1h"}, []string{"acl", "--server-version=6.2"}},
		{"acl-targets", map[string]string{"KEYHEALTH_CONFIG_FILE": "testdata/targets.yml", "KEYHEALTH_REDIS_PASSWORD": "hunter2"}, []string{"acl", "--server-version=8.0.1"}},
		{"acl-sentinel-6.0", map[string]string{"KEYHEALTH_REDIS_URL": "redis+sentinel://h/m", "KEYHEALTH_BIG_KEY_BUDGET": "0"}, []string{"acl", "--server-version", "6"}},
		{"problem-targets", map[string]string{"KEYHEALTH_CONFIG_FILE": "testdata/broken-targets.yml"}, nil},
		{"problem-unparsed", unparsed, []string{"check-config"}},
		{"problem-file", map[string]string{"KEYHEALTH_CONFIG_FILE": "testdata/broken.yml"}, nil},
		{"problem-command-line", nil, []string{"--redis-password=hunter2"}},
	}
	goldens := []string{}
	for _, test := range tests {
		goldens = append(goldens, test.golden+".golden")
		t.Run(test.golden, func(t *testing.T) {
			got := runWith(t, test.env, test.args...)
			checkGolden(t, filepath.Join("testdata", test.golden+".golden"), got.String())
		})
	}
	found, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if !slices.Contains(goldens, filepath.Base(path)) {
			t.Errorf("%s: no test produces it", path)
		}
	}
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./cmd/exporter -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the new text is right: go test ./cmd/exporter -update\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}

func TestHelpFitsATerminal(t *testing.T) {
	for line := range strings.Lines(runWith(t, nil, "--help").stdout) {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestVersion(t *testing.T) {
	got := runWith(t, nil, "--version")
	if got.code != exitFine || !strings.HasPrefix(got.stdout, "keyhealth, version ") || got.stderr != "" {
		t.Error(got)
	}
}

func TestCommandLine(t *testing.T) {
	tests := []struct {
		args string
		want string // the one line on stderr
	}{
		{"bogus", `arguments: expected command but got "bogus", see keyhealth --help`},
		{"chek-config", `arguments: expected command but got "chek-config", the nearest is check-config, see keyhealth --help`},
		{"--web.listenaddress=:1", `arguments: unknown long flag '--web.listenaddress', the nearest is --web.listen-address, see keyhealth --help`},
		{"acl --serverversion=7", `arguments: unknown long flag '--serverversion', the nearest is --server-version, see keyhealth --help`},
		{"selftest 127.0.0.1:6379", `URL: must begin with redis://, rediss://, valkey://, valkeys://, unix://, or redis+sentinel:// and the like, for example keyhealth selftest redis://127.0.0.1:6379`},
		{"selftest unix://redis.sock", `URL: must hold the absolute path of the socket, with three slashes: unix:///run/redis.sock, for example keyhealth selftest unix:///run/redis/redis.sock`},
		{"health", `arguments: expected command but got "health", see keyhealth --help`},
		{"serve extra", `arguments: unexpected extra, see keyhealth --help`},
		{"audit", `arguments: expected command but got "audit", see keyhealth --help`},
		{"acl --server-version=5.0", `--server-version="5.0": must be a version from 6.0 on, older servers have no users, for example --server-version=7.2`},
		{"acl --server-version=new", `--server-version="new": must be a version from 6.0 on, older servers have no users, for example --server-version=7.2`},
		{"acl --server-version=7.x", `--server-version="7.x": must be a version from 6.0 on, older servers have no users, for example --server-version=7.2`},
		{"check-config --server-version=7", `arguments: unknown long flag '--server-version', which is a flag of acl, see keyhealth --help`},
		{"--log.level", `arguments: expected argument for flag '--log.level', see keyhealth --help`},
		{"--log.level=loud", `--log.level="loud": must be debug, info, warn or error, for example --log.level=info`},
		{"check-config --log.format=xml", `--log.format="xml": must be logfmt or json, for example --log.format=logfmt`},
		{"--web.listen-address=:99999", `--web.listen-address=":99999": must be [host]:port, several separated by commas, for example --web.listen-address=:10121`},
		{"redis://alice:hunter2@host", `arguments: a Redis URL is not an argument of this command, set KEYHEALTH_REDIS_URL`},
		{"alice:hunter2@host", `arguments: cannot be read, see keyhealth --help`},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			got := runWith(t, nil, strings.Fields(test.args)...)
			if got.code != exitUsage || got.stdout != "" || got.stderr != "keyhealth: "+test.want+"\n" {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	got := runWith(t, map[string]string{
		"KEYHEALTH_WEB_LISTEN_ADDRESS": "nonsense",
		"KEYHEALTH_WEB_CONFIG_FILE":    "nonsense",
		"KEYHEALTH_LOG_LEVEL":          "nonsense",
		"KEYHEALTH_LOG_FORMAT":         "nonsense",
	}, "check-config", "--web.listen-address=:1", "--web.listen-address=:2",
		"--web.config.file=testdata/web.yml", "--log.level=error", "--log.format=json")
	for _, want := range []string{":1,:2\n", " testdata/web.yml\n", " error\n", " json\n"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in force: %s", want, got)
		}
	}
}

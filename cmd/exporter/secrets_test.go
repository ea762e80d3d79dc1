package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretsStaySecret gives every setting that may hold a secret, and those
// that one may be put in by mistake, good and bad values.
func TestSecretsStaySecret(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		args []string
		file string // content of a file for KEYHEALTH_CONFIG_FILE
		web  string // content of a file for KEYHEALTH_WEB_CONFIG_FILE
		fine bool
	}{
		{name: "bad port", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@h:99999"}},
		{name: "port is no number", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@h:port"}},
		{name: "password instead of port", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2"}},
		{name: "bad scheme", env: map[string]string{"REDIS_URL": "http://alice9:hunter2@h"}},
		{name: "no scheme", env: map[string]string{"REDIS_URL": "alice9:hunter2@h:6379"}},
		{name: "bad escape", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2%zz@h"}},
		{name: "control character", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2\x01@h"}},
		{name: "line break", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@h\n"}},
		{name: "slash in password", env: map[string]string{"REDIS_URL": "redis://alice9:12/hunter2@h"}},
		{name: "question mark in password", env: map[string]string{"REDIS_URL": "redis://alice9:12?hunter2@h"}},
		{name: "query", env: map[string]string{"REDIS_URL": "redis://alice9:x@h?hunter2=hunter2"}},
		{name: "bad query", env: map[string]string{"REDIS_URL": "redis://alice9:x@h?hunter2=%zz;"}},
		{name: "hash in password", env: map[string]string{"REDIS_URL": "redis://alice9:12#hunter2@h"}},
		{name: "bad database", env: map[string]string{"REDIS_URL": "redis://h/hunter2"}},
		{name: "no host", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@"}},
		{name: "seeds", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@h:1,h:x"}},
		{name: "user before each seed", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@h:1,alice9:hunter2@h:2"}},
		{name: "sentinel without a set", env: map[string]string{"REDIS_URL": "redis+sentinel://alice9:hunter2@h:1,h:2"}},
		{name: "slash in a sentinel's password", env: map[string]string{"REDIS_URL": "redis+sentinel://alice9:12/hunter2@h:1"}},
		{name: "socket", env: map[string]string{"REDIS_URL": "unix://alice9:hunter2@sock"}},
		{name: "user alone", env: map[string]string{"REDIS_URL": "redis://alice9@h"}},
		{name: "URL and setting", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@h", "REDIS_PASSWORD": "hunter2"}},
		{name: "password and file", env: map[string]string{"REDIS_PASSWORD": "hunter2", "REDIS_PASSWORD_FILE": "testdata/password"}},
		{name: "password file is the password", env: map[string]string{"REDIS_PASSWORD_FILE": "hunter2"}},
		{name: "user setting alone", env: map[string]string{"REDIS_USERNAME": "alice9"}},
		{name: "key file is the key", env: map[string]string{"REDIS_URL": "rediss://h", "REDIS_TLS_CERT_FILE": "testdata/web.yml", "REDIS_TLS_KEY_FILE": "hunter2"}},
		{name: "certificate is the key", env: map[string]string{"REDIS_URL": "rediss://h", "REDIS_TLS_KEY_FILE": "x", "REDIS_TLS_CERT_FILE": "-----BEGIN KEY-----\nhunter2"}},
		{name: "misspelt name", env: map[string]string{"REDIS_PASWORD": "hunter2"}},
		{name: "sentinel's user alone", env: map[string]string{"SENTINEL_USERNAME": "alice9"}},
		{name: "sentinel's password file is the password", env: map[string]string{"REDIS_URL": "redis+sentinel://h:1/m", "SENTINEL_PASSWORD_FILE": "hunter2"}},
		{name: "URL in duty", env: map[string]string{"SWEEP_DUTY": "redis://alice9:hunter2@h"}},
		{name: "URL without host in duty", env: map[string]string{"SWEEP_DUTY": "redis://:hunter2"}},
		{name: "URL in databases", env: map[string]string{"DATABASES": "redis://alice9:hunter2@h"}},
		{name: "URL in groups", env: map[string]string{"GROUPS": "redis://alice9:hunter2@h"}},
		{name: "URL in listen address", env: map[string]string{"WEB_LISTEN_ADDRESS": "redis://alice9:hunter2@h"}},
		{name: "URL in telemetry path", env: map[string]string{"WEB_TELEMETRY_PATH": "redis://alice9:hunter2@h"}},
		{name: "URL in web config", env: map[string]string{"WEB_CONFIG_FILE": "redis://alice9:hunter2@h"}},
		{name: "URL in config file", env: map[string]string{"CONFIG_FILE": "redis://alice9:hunter2@h"}},
		{name: "URL in log level", env: map[string]string{"LOG_LEVEL": "redis://alice9:hunter2@h"}},
		{name: "URL as argument", args: []string{"redis://alice9:hunter2@h"}},
		{name: "URL without scheme as argument", args: []string{"alice9:hunter2@h"}},
		{name: "URL as file of arguments", args: []string{"@hunter2"}},
		{name: "URL as flag", args: []string{"--log.level=redis://alice9:hunter2@h"}},
		{name: "password as flag", args: []string{"--password=hunter2"}},

		{name: "password in YAML", file: "password: hunter2"},
		{name: "text for groups", file: "groups: hunter2"},
		{name: "text for a group", file: "groups: [hunter2]"},
		{name: "wrong kind", file: "groups: [{name: a, match: b, limit: hunter2}]"},
		{name: "alias", file: "groups: [{name: a, match: *hunter2}]"},
		{name: "no mapping", file: "redis://alice9:hunter2@h"},
		{name: "syntax", file: "groups: \"hunter2"},
		{name: "URL of a target", file: "targets: [{name: a, url: 'redis://alice9:hunter2@h'}]"},
		{name: "bad URL of a target", file: "targets: [{name: a, url: 'redis://alice9:hunter2@h:x'}]"},
		{name: "password of a target", file: "targets: [{name: a, url: 'redis://h', password: hunter2}]"},
		{name: "password file of a target is the password", file: "targets: [{name: a, url: 'redis://h', password_file: hunter2}]"},
		{name: "key file of a target is the key", file: "targets: [{name: a, url: 'rediss://h', tls: {cert_file: x, key_file: hunter2}}]"},
		{name: "URL in a target's cluster", file: "targets: [{name: a, url: 'redis://h', cluster: 'redis://alice9:hunter2@h'}]"},
		{name: "user of a target alone", file: "targets: [{name: a, url: 'redis://h', username: alice9}]"},
		{name: "plain web password", web: "basic_auth_users: {alice9: hunter2}"},
		{name: "web users as text", web: "basic_auth_users: hunter2"},
		{name: "web alias", web: "basic_auth_users: {alice9: *hunter2}"},
		{name: "web user twice", web: "basic_auth_users: {alice9: hunter2, alice9: hunter2}"},

		{name: "fine URL", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@127.0.0.1:1/3"}, fine: true},
		{name: "fine seeds", env: map[string]string{"REDIS_URL": "redis://alice9:hunter2@127.0.0.1:1,127.0.0.1:2"}, fine: true},
		{name: "fine sentinel", env: map[string]string{"REDIS_URL": "redis+sentinel://alice9:hunter2@127.0.0.1:1,127.0.0.1:2/m", "SENTINEL_USERNAME": "alice9", "SENTINEL_PASSWORD_FILE": "testdata/password"}, fine: true},
		{name: "fine target", env: map[string]string{"REDIS_PASSWORD": "hunter2"}, file: "targets: [{name: a, url: 'redis://127.0.0.1:1', username: alice9}, {name: b, url: 'redis+sentinel://127.0.0.1:1/m', sentinel: {username: alice9, password_file: testdata/password}}]", fine: true},
		{name: "fine socket", env: map[string]string{"REDIS_URL": "unix://alice9:hunter2@/absent?db=3"}, fine: true},
		{name: "fine settings", env: map[string]string{"REDIS_URL": "redis://127.0.0.1:1", "REDIS_USERNAME": "alice9", "REDIS_PASSWORD": "hunter2"}, fine: true},
		{name: "fine file", env: map[string]string{"REDIS_URL": "redis://127.0.0.1:1", "REDIS_PASSWORD_FILE": "testdata/password"}, fine: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env := map[string]string{
				"KEYHEALTH_WEB_LISTEN_ADDRESS": "127.0.0.1:0",
				"KEYHEALTH_LOG_LEVEL":          "debug",
			}
			for name, content := range map[string]string{"CONFIG_FILE": test.file, "WEB_CONFIG_FILE": test.web} {
				if content != "" {
					env[prefix+name] = writeFile(t, content)
				}
			}
			for name, value := range test.env {
				env[prefix+name] = value
			}
			for _, command := range []string{"check-config", "serve"} {
				got := runWith(t, env, append([]string{command}, test.args...)...)
				if (got.code == exitFine) != test.fine {
					t.Errorf("%s: exit code %d: %s", command, got.code, got)
				}
				if !test.fine && strings.Count(got.stderr, "\n") != 1 {
					t.Errorf("%s: want one line, got %s", command, got)
				}
				for _, trace := range []string{"hunter2", "hunt", "alice9"} {
					if strings.Contains(got.String(), trace) {
						t.Errorf("%s: %q shows in %s", command, trace, got)
					}
				}
			}
		})
	}
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoFormatPrintsASecret is about panics and careless log lines.
func TestNoFormatPrintsASecret(t *testing.T) {
	setenv(t, map[string]string{
		"KEYHEALTH_REDIS_URL": "redis://alice9:hunter2@h",
	})
	cfg, problems := load(flags{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	encoded, err := json.Marshal(cfg.settings)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %s %v", cfg, *cfg, *cfg, encoded, errors.New(cfg.Redis.URL.String()))
	for _, trace := range []string{"hunter2", "alice9"} {
		if strings.Contains(text, trace) {
			t.Errorf("%q shows in %s", trace, text)
		}
	}
}

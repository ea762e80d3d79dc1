package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"keyhealth/collector/classify"
)

// TestPresets: what the setting and the file say is what the target gets and
// check-config shows.
func TestPresets(t *testing.T) {
	number := func(names ...string) int {
		presets, err := classify.SelectPresets(names)
		if err != nil {
			t.Fatal(err)
		}
		return len(presets)
	}
	distinctive := number(classify.PresetsDistinctive)
	tests := []struct {
		setting, file string // empty: not given
		want          int
		shows         string
	}{
		{"", "", distinctive, "distinctive"},
		{"all", "", number(classify.PresetsAll), "all"},
		{"none", "", 0, "none"},
		{"kong", "", 1, "kong"},
		{" distinctive , redis-rate ", "", distinctive + 1, "distinctive,redis-rate"},
		{"", "presets: [distinctive, traefik]", distinctive + 1, "distinctive,traefik"},
		{"", "presets: traefik, redis-rate", 2, "traefik,redis-rate"},
		{"", "presets: none", 0, "none"},
		{"", "presets: []", 0, "none"},
		{"", "presets:", distinctive, "distinctive"},
		{"kong", "presets:", 1, "kong"},
		{"kong", "groups: []", 1, "kong"},
		{"", "p: &p [kong]\npresets: *p", -1, `unknown key "p"`},
	}
	for _, test := range tests {
		t.Run(test.setting+"/"+test.file, func(t *testing.T) {
			env := map[string]string{"KEYHEALTH_PRESETS": test.setting}
			if test.file != "" {
				path := filepath.Join(t.TempDir(), "keyhealth.yml")
				if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
				env["KEYHEALTH_CONFIG_FILE"] = path
			}
			got := runWith(t, env, "check-config")
			if test.want < 0 {
				if got.code != exitUsage || !strings.Contains(got.stderr, test.shows) {
					t.Error(got)
				}
				return
			}
			if !slices.ContainsFunc(strings.Split(got.stdout, "\n"), func(line string) bool {
				return slices.Equal(strings.Fields(line), []string{"KEYHEALTH_PRESETS", test.shows})
			}) {
				t.Errorf("got %swant KEYHEALTH_PRESETS %s", got, test.shows)
			}
			setenv(t, env)
			cfg, problems := load(flags{})
			if presets := cfg.target().Presets; len(problems) > 0 || len(presets) != test.want {
				t.Errorf("%d presets, want %d; %v", len(presets), test.want, problems)
			}
		})
	}
}

func TestPresetsInTheFile(t *testing.T) {
	for content, want := range map[string]string{
		"presets: [distinctive, king]":     `f.yml, line 1: presets: there is no preset "king", the nearest is kong; docs/presets.md lists them`,
		"groups: []\npresets:\n- king":     `f.yml, line 3: presets: there is no preset "king", the nearest is kong; docs/presets.md lists them`,
		"presets: king":                    `f.yml, line 1: presets: there is no preset "king", the nearest is kong; docs/presets.md lists them`,
		"presets: [none, kong]":            "f.yml, line 1: presets: none stands alone",
		"presets: {kong: true}":            "f.yml, line 1: presets must be distinctive, all, none, or a list of names such as [distinctive, kong]",
		"presets: [[kong]]":                "f.yml, line 1: presets must be distinctive, all, none, or a list of names such as [distinctive, kong]",
		"presets: ['']":                    "f.yml, line 1: presets must be distinctive, all, none, or a list of names such as [distinctive, kong]",
		"presets: redis://app:hunter2@h":   "f.yml, line 1: presets must be distinctive, all, none, or a list of names such as [distinctive, kong]",
		"presets: [kong]\npresets: [kong]": "f.yml, line 2: the key presets is given twice",
	} {
		_, problems := parseConfigFile("f.yml", []byte(content))
		if len(problems) != 1 || problems[0].String() != want {
			t.Errorf("%q\ngot  %v\nwant %s", content, problems, want)
		}
	}
}

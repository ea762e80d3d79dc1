package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"keyhealth/collector/classify"
)

func TestConfigFile(t *testing.T) {
	tests := []struct {
		name    string
		content string
		want    string // the groups as name:matches, or the problems, a line each
	}{
		{"empty", "", ""},
		{"only a comment", "# nothing\n", ""},
		{"only a separator", "---\n", ""},
		{"no groups", "groups:\n", ""},
		{"empty list", "groups: []\n", ""},
		{"one", "groups: [{name: a, match: b}]", "a:[b]"},
		{"order", "groups: [{name: b, match: [x, y]}, {name: a, match: z}]", "b:[x y] a:[z]"},
		{"anchor", "groups: [&one {name: a, match: b, window: 1h}, {<<: *one, name: c}]", "a:[b] c:[b]"},
		{"alias of a group", "groups: [{name: a, match: &m b}, {name: c, match: *m}]", "a:[b] c:[b]"},

		{"unknown key", "groups: []\ngrups: []", `f.yml, line 2: unknown key "grups" in the file, the nearest is groups`},
		{"unknown key of a group", "groups:\n- name: a\n  match: b\n  maxttl: 1m", `f.yml, line 4: unknown key "maxttl" in a group, the nearest is max_ttl`},
		{"targets of the file", "groups: [{name: a, match: b}]\ntargets: [{name: shop, url: 'redis://h', groups: [{name: c, match: d}]}]", "a:[b]"},
		{"duplicate key", "groups:\n- name: a\n  match: b\n  name: c", "f.yml, line 4: the key name is given twice"},
		{"duplicate top key", "groups: []\ngroups: []", "f.yml, line 2: the key groups is given twice"},
		{"unknown key from a merge", "groups: [{name: a, match: b, <<: {windw: 1h}}]", "f.yml: yaml: unmarshal errors: line 1: field windw not found in type classify.Rule"},
		{"list", "- a", "f.yml, line 1: the file must be keys with values, such as groups: ..."},
		{"text", "a", "f.yml, line 1: the file must be keys with values, such as groups: ..."},
		{"groups as mapping", "groups:\n  a: b", "f.yml, line 1: groups must be a list: - name: ..."},
		{"group as text", "groups:\n- a", "f.yml, line 2: a group must be keys with values, such as name: ..."},
		{"window without unit", "groups:\n- name: a\n  match: b\n  window: 60", "f.yml, line 4: window must be a duration such as 60s"},
		{"limit", "groups:\n- name: a\n  match: b\n  limit: 1.5", "f.yml, line 4: limit must be a whole number"},
		{"lockout", "groups:\n- name: a\n  match: b\n  lockout: perhaps", "f.yml, line 4: lockout must be true or false"},
		{"match", "groups:\n- name: a\n  match: {b: c}", "f.yml, line 3: match must be a Redis glob, or a list of them"},
		{"name", "groups:\n- match: a\n  name: [b]", "f.yml, line 3: name must be a text"},
		{"rule", "groups:\n- name: a\n  match: b\n- name: c\n  match: d\n  ttl: never", `f.yml, line 4: group "c": ttl must be expected, persistent or unknown`},
		{"no name", "groups:\n- name: a\n  match: b\n- match: c", `f.yml, line 4: group 2 has no name: add "name: ..."`},
		{"twice", "groups:\n- name: a\n  match: b\n- name: a\n  match: c", `f.yml, line 4: group "a" is described twice: give one rule a list of globs instead`},
		{"discovery", "discovery: {enabled: false, allow: [a]}\ngroups: [{name: a, match: b}]", "a:[b]"},
		{"no key like it", "discovery:\n  zzz: x", `f.yml, line 2: unknown key "zzz" in discovery, there are enabled, separators, depth, allow`},
		{"discovery key", "discovery:\n  sep: x", `f.yml, line 2: unknown key "sep" in discovery, the nearest is separators`},
		{"discovery depth", "discovery:\n  depth: 9", "f.yml: discovery: depth must be from 1 to 8"},
		{"discovery depth type", "discovery:\n  depth: 1.5", "f.yml, line 2: depth must be a whole number"},
		{"discovery separators", "discovery:\n  separators: a", `f.yml: discovery: separators must be ASCII characters such as ":/.|", no letters, digits, spaces or *`},
		{"discovery allow", "discovery:\n  allow: ['']", "f.yml: discovery: allow must be a list of segments of 1 to 48 bytes, without separators or *"},
		{"discovery allow is no glob", "discovery:\n  allow: ['user*']", "f.yml: discovery: allow must be a list of segments of 1 to 48 bytes, without separators or *"},
		{"documents", "groups: []\n---\ngroups: []", "f.yml: holds a second document: remove the line --- and what follows it"},
		{"star", "groups:\n- name: a\n  match: *b", "f.yml: a value that begins with * must be in quotes: match: \"*:limit\""},
		{"tab", "groups:\n\t- name: a", "f.yml, line 2: indent with spaces, not tabs"},
		{"tab after spaces", "groups:\n  - name: a\n  \tmatch: b", "f.yml, line 3: indent with spaces, not tabs"},
		{"tab before a key", "groups:\n- name: a\n\tmatch: b", "f.yml, line 3: indent with spaces, not tabs"},
		{"tab elsewhere", "groups:\n- name: a\n  match: @b\n\t", "f.yml: yaml: line 3: found character that cannot start any token"},
		{"tab within", "groups:\n- name:\ta\n  match: b", "a:[b]"},
		{"limit 0", "groups:\n- name: a\n  match: b\n  limit: 0", "f.yml, line 4: limit must be above 0"},
		{"limit null", "groups:\n- name: a\n  match: b\n  limit:", "a:[b]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file, problems := parseConfigFile("f.yml", []byte(test.content))
			texts := []string{}
			for _, rule := range file.Groups {
				texts = append(texts, fmt.Sprintf("%s:%v", rule.Name, rule.Match))
			}
			got := strings.Join(texts, " ")
			if len(problems) > 0 {
				lines := []string{}
				for _, p := range problems {
					lines = append(lines, p.String())
				}
				got = strings.Join(lines, "\n")
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestEveryKeyOfARuleIsDescribed(t *testing.T) {
	described := []string{}
	for _, key := range groupKeys() {
		described = append(described, key.name)
	}
	inRule := []string{}
	for field := range reflect.TypeFor[classify.Rule]().Fields() {
		inRule = append(inRule, field.Tag.Get("yaml"))
	}
	if got, want := fmt.Sprint(described), fmt.Sprint(inRule); len(inRule) == 0 || !sameWords(described, inRule) {
		t.Errorf("described %s, in classify.Rule %s", got, want)
	}
}

func sameWords(a, b []string) bool {
	count := map[string]int{}
	for i := range a {
		count[a[i]]++
	}
	for i := range b {
		count[b[i]]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestTheExampleFileIsValid(t *testing.T) {
	file, problems := parseConfigFile("example", []byte(exampleFile))
	if len(problems) > 0 || len(file.Groups) != 2 {
		t.Error(problems, len(file.Groups))
	}
}

func TestTheExampleOfTargetsIsValid(t *testing.T) {
	file, problems := parseConfigFile("example", []byte(exampleTargets))
	if len(problems) > 0 || len(file.targets) != 2 {
		t.Error(problems, len(file.targets))
	}
}

// FuzzConfigFile: whatever a file holds, it is read or it has problems of one
// line each that quote nothing of it but keys.
func FuzzConfigFile(f *testing.F) {
	for _, name := range []string{"testdata/groups.yml", "testdata/broken.yml", "testdata/presets.yml"} {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte("groups: [{name: a, match: [x, *]}]\n--- \n"))
	f.Add([]byte("targets: [&a {name: x, url: 'redis://h', tls: {ca_file: y}, databases: [0]}, {<<: *a, groups: [{name: z, match: q}]}]\n"))
	f.Add([]byte("groups: &a [*a]\n<<: {}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, problems := parseConfigFile("keyhealth.yml", content)
		for _, p := range problems {
			if strings.Contains(p.String(), "\n") {
				t.Errorf("a problem of several lines: %q", p.String())
			}
		}
		if len(problems) == 0 && classify.ValidateRules(file.Groups) != nil {
			t.Errorf("invalid rules were taken: %+v", file.Groups)
		}
		if len(problems) > 0 {
			return
		}
		for _, entry := range file.targets {
			if _, problems := (&config{given: map[string]secret{}}).with(entry); len(problems) == 0 && entry.values["name"].text == "" {
				t.Errorf("a target without a name was taken: %+v", entry)
			}
		}
	})
}

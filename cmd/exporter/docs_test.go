package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSettingsPage writes docs/settings.md from the tables with -update, and
// fails where the page has drifted from them.
func TestSettingsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# Settings

<!-- Generated from cmd/exporter/settings.go, configfile.go and filetargets.go: make docs -->

keyhealth is configured by environment variables, and by a YAML file where the groups are many. ` + "`keyhealth check-config`" + `
validates everything, connects to nothing, and prints what is in force with secrets hidden.

- A variable that is set but empty counts as unset.
- A value that does not parse, an unknown ` + "`KEYHEALTH_`" + ` variable, or a combination that cannot be honoured stops the start with
  exit code 2 and one line each that names the setting, the rule and an example. URLs, users and passwords are never printed.
- Durations are numbers with a unit: ` + "`ms`, `s`, `m`, `h`, `d`, `w`, such as `90s`, `1.5h`, `1w2d`" + `.
- The flags ` + "`--web.listen-address` (repeatable), `--web.config.file`, `--log.level` and `--log.format`" + ` win over their variables.
  Passwords are never flags.
- Variables that Kubernetes sets for services of the namespace (` + "`KEYHEALTH_SERVICE_HOST`, `KEYHEALTH_PORT=tcp://...`" + `) are ignored.
`)
	topic := ""
	for _, row := range new(settings).table() {
		if row.topic != topic {
			topic = row.topic
			fmt.Fprintf(&page, "\n## %s\n\n| name | default | meaning |\n|---|---|---|\n", topic)
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", row.name, code(row.initial), cell(row.meaning))
	}
	page.WriteString(`
The web configuration file is that of the Prometheus exporter toolkit:
<https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md>.

## The YAML file

` + "`KEYHEALTH_CONFIG_FILE`" + ` names a file with the keys ` + "`groups`, `presets`, `discovery` and `targets`" + `. Unknown keys stop the start.
The file is read again on SIGHUP and, with ` + "`KEYHEALTH_WEB_ENABLE_LIFECYCLE=true`, on `POST /-/reload`" + `; the environment is not. Targets
that have not changed go on undisturbed, the others begin anew. A file with problems changes nothing: they are in the log and in the
answer, and ` + "`keyhealth_config_last_reload_success`" + ` is 0 until it is read again without any. A file that had targets and has none
any more is one with problems; a restart takes the targets from the environment. So is what is no regular file, or larger than 4 MiB.

` + "`groups`" + ` is a list of groups, in order; the first one that matches a key has it. Groups of ` + "`KEYHEALTH_GROUPS`" + ` come before those of
the file, and no name may be used twice.

` + "```yaml\n" + exampleFile + "```\n" + `
| key | default | meaning |
|---|---|---|
`)
	fileKeyRows(&page, groupKeys())
	page.WriteString(`
` + "`presets`" + ` is what ` + "`KEYHEALTH_PRESETS`" + ` would hold, as a list or as a text, and not together with it; the [presets](presets.md)
take what no group does. An empty list is none.

` + "`discovery`" + ` says how the other keys are grouped, by the shape of their names: ids and addresses become ` + "`*`" + `, and a word is shown
only where at least 20 examined keys lie under it, so ` + "`session:42:1700000000` is in the group `session:*:*`" + `. A place with more than
50 different words varies and becomes ` + "`*`" + ` too, except that a first word with 2 % of the keys is shown. A group that was
discovered has the ttl ` + "`unknown`" + `: it has no zombies until a rule describes it.

| key | default | meaning |
|---|---|---|
`)
	fileKeyRows(&page, discoveryKeys())
	page.WriteString("\nThe quick form has one glob a group, and a window or `persistent`:\n\n" +
		"    KEYHEALTH_GROUPS='ocr=rate_limit:ocr:*@60s,flags=flags:*@persistent'\n")
	page.WriteString(`
### Several targets

` + "`targets`" + ` is a list of Redis deployments, in the place of ` + "`KEYHEALTH_REDIS_URL` and `KEYHEALTH_TARGET_NAME`" + `. Each is watched by itself.

` + "```yaml\n" + exampleTargets + "```\n" + `
A key that a target does not have is what its setting says for all; settings without a key here are those of all targets. TLS,
Sentinel and database settings of the environment are passed over by targets whose ` + "`url`" + ` has no use for them. Secrets are in files.

| key | setting | beside its meaning |
|---|---|---|
`)
	for _, key := range targetKeys() {
		fmt.Fprintf(&page, "| `%s` | `%s` | %s |\n", key.name, key.setting, key.meaning)
	}
	page.WriteString("| `groups`, `presets`, `discovery` | | As those of the file, for this target alone. Each stands in the place of the same key of the file, and of `KEYHEALTH_GROUPS` or `KEYHEALTH_PRESETS`, which are for the targets that have none of their own. `[]` is none. |\n" + `
` + "`/metrics` has all targets, `/probe?target=NAME` one of them, and `/targets`" + ` lists them for Prometheus' HTTP service discovery.
`)
	checkGolden(t, filepath.Join("..", "..", "docs", "settings.md"), page.String())
}

// TestTheRuleOfThePages: the documents show what keyhealth acl prints.
func TestTheRuleOfThePages(t *testing.T) {
	printed := func(env map[string]string) []string {
		t.Helper()
		got := runWith(t, env, aclCommand)
		if got.code != exitFine {
			t.Fatal(got)
		}
		rules := []string{}
		for line := range strings.Lines(got.stdout) {
			if strings.HasPrefix(line, "ACL SETUSER") {
				rules = append(rules, strings.TrimSpace(line))
			}
		}
		return rules
	}
	known := append(printed(nil), printed(map[string]string{"KEYHEALTH_REDIS_URL": "redis+sentinel://h/m"})...)
	shown := 0
	for _, name := range []string{"docs/permissions.md", "README.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(page)) {
			if rule := strings.TrimSpace(line); strings.HasPrefix(rule, "ACL SETUSER keyhealth on ") {
				shown++
				if !slices.Contains(known, rule) {
					t.Errorf("%s shows a rule that keyhealth acl does not print: %s", name, rule)
				}
			}
		}
	}
	if shown < 3 {
		t.Errorf("only %d rules are shown", shown)
	}
}

func fileKeyRows(page *strings.Builder, keys []fileKey) {
	for _, key := range keys {
		initial := key.initial
		if !strings.Contains(initial, "`") {
			initial = code(strings.ReplaceAll(initial, "|", `\|`))
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", key.name, initial, cell(key.meaning))
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell keeps a text from ending its table's cell, or from being taken for HTML.
func cell(text string) string {
	if strings.Contains(text, "`") { // whose author has minded them
		return strings.ReplaceAll(text, "|", `\|`)
	}
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)
}

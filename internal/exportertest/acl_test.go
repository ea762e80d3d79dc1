// The user that keyhealth acl prints can do all that is needed, and nothing of it
// can be spared: a target for each permission, with a user that loses it.

package exportertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// setUser applies a rule as an administrator would.
func setUser(t *testing.T, admin *redis.Client, words ...string) {
	t.Helper()
	arguments := []any{"ACL", "SETUSER"}
	for _, word := range words {
		arguments = append(arguments, word)
	}
	if err := admin.Do(t.Context(), arguments...).Err(); err != nil {
		t.Fatalf("ACL SETUSER %v: %v", words, err)
	}
}

func TestEachPermissionIsNeeded(t *testing.T) {
	redistest.Run(t, "acl", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		redistest.Fill(t, server, fillACL)
		admin, version := server.Client(t), server.Version(t)
		lost := append(losses(version), loss{permission: "+nothing"})
		settings := targetEach(t, server.URL(), lost)
		rule := printedRule(t, settings, version)
		checkRule(t, rule, lost)
		permit := func() {
			for _, l := range lost {
				setUser(t, admin, append([]string{l.user()}, rule...)...)
			}
		}
		permit()
		if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		e := Start(t, settings)
		e.whole(t, lost)
		if errors := admin.Info(t.Context(), "errorstats").Val(); strings.Contains(errors, "errorstat_") {
			t.Errorf("with the printed rule we caused errors:\n%s", errors)
		}
		for _, l := range lost[:len(lost)-1] {
			setUser(t, admin, l.user(), l.take(version))
		}
		e.lose(t, lost)
		permit()
		e.whole(t, lost)
		checkLines(t, e.Output(), lost)
	})
}

// targetEach has a target, with a user of its own, for each loss.
func targetEach(t *testing.T, url string, lost []loss) Settings {
	t.Helper()
	dir := t.TempDir()
	file, password := filepath.Join(dir, "keyhealth.yml"), filepath.Join(dir, "password")
	text := groupsACL
	for _, l := range lost {
		text += fmt.Sprintf("  - {name: %s, url: %q, username: %s, password_file: %q}\n", l.user(), url, l.user(), password)
	}
	for path, content := range map[string]string{file: text, password: "p"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Settings{"CONFIG_FILE": file, "SWEEP_INTERVAL": "1s", "BIG_KEY_ELEMENTS": "100", "SWEEP_DUTY": "1", "PRESETS": "none"}
}

// checkRule wants every permission of the rule in the table, and the other way
// round.
func checkRule(t *testing.T, rule []string, lost []loss) {
	t.Helper()
	for _, l := range lost {
		if l.permission != "+nothing" && !slices.Contains(rule, l.permission) {
			t.Errorf("the rule has no %s", l.permission)
		}
	}
	for _, word := range rule[slices.Index(rule, "-@all")+1:] {
		if !slices.ContainsFunc(lost, func(l loss) bool { return l.permission == word }) {
			t.Errorf("nothing here loses %s", word)
		}
	}
}

// checkLines wants one log line for each capability that was lost.
func checkLines(t *testing.T, log string, lost []loss) {
	t.Helper()
	for _, l := range lost {
		want, part := 1, "target="+l.user()+" capability="+l.capability+" "
		if l.capability == "" {
			want, part = 0, "target="+l.user()+" capability="
		}
		lines := 0
		for line := range strings.Lines(log) {
			if strings.Contains(line, "Redis refuses a command") && strings.Contains(line, part) {
				lines++
			}
		}
		if lines != want {
			t.Errorf("without %s there are %d lines, want %d", l.permission, lines, want)
		}
	}
}

// printedRule is what keyhealth acl prints for the settings, where that is one
// rule: from the words after the user's name on, with a password.
func printedRule(t *testing.T, settings Settings, version string) []string {
	t.Helper()
	rules := printedRules(t, settings, version)
	if len(rules) != 1 {
		t.Fatalf("%d rules: %q", len(rules), rules)
	}
	return rules[0]
}

func printedRules(t *testing.T, settings Settings, version string) (rules [][]string) {
	t.Helper()
	code, text := Run(t, settings, "acl", "--server-version="+version)
	if code != 0 || !strings.HasPrefix(text, "ACL SETUSER keyhealth ") {
		t.Fatalf("exit code %d: %s", code, text)
	}
	for line := range strings.Lines(text) {
		if rule, found := strings.CutPrefix(line, "ACL SETUSER keyhealth "); found {
			rules = append(rules, strings.Fields(strings.Replace(rule, ">PASSWORD", ">p", 1)))
		}
	}
	return rules
}

// whole waits until all targets have every capability, two sweeps on, and right
// figures.
func (e *Exporter) whole(t *testing.T, lost []loss) {
	t.Helper()
	m := e.Wait(t, "a sweep of every target with every capability", func(m Metrics) bool {
		return !slices.ContainsFunc(lost, func(l loss) bool {
			target := "target=" + l.user()
			capabilities := m.Values("keyhealth_capability", target)
			return m.Value(t, "keyhealth_sweep_success", target) != 1 || slices.Contains(capabilities, 0) || len(capabilities) == 0 ||
				l.capability != "" && !m.Has("keyhealth_capability", target, "capability="+l.capability)
		})
	})
	for _, l := range lost {
		loss{permission: l.permission}.check(t, m)
	}
}

// lose waits until every loss shows, and wants nothing wrong in the sweep after.
func (e *Exporter) lose(t *testing.T, lost []loss) {
	t.Helper()
	sweeps := map[string]float64{}
	m := e.Wait(t, "every capability that is lost to be 0", func(m Metrics) bool {
		return !slices.ContainsFunc(lost, func(l loss) bool {
			return l.capability != "" && m.Value(t, "keyhealth_capability", "target="+l.user(), "capability="+l.capability) != 0
		})
	})
	for _, l := range lost {
		sweeps[l.user()] = m.Value(t, "keyhealth_sweeps_total", "target="+l.user())
	}
	m = e.Wait(t, "two more sweeps of each", func(m Metrics) bool {
		return !slices.ContainsFunc(lost, func(l loss) bool {
			return m.Value(t, "keyhealth_sweeps_total", "target="+l.user()) < sweeps[l.user()]+2
		})
	})
	for _, l := range lost {
		l.check(t, m)
		if success := m.Value(t, "keyhealth_sweep_success", "target="+l.user()); success != 0 != !l.fails {
			t.Errorf("without %s keyhealth_sweep_success is %v", l.permission, success)
		}
	}
}

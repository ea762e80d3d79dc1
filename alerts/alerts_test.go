package alerts

// Runs promtool on the rules and their unit tests, as they are and with one
// thing wrong. What is made wrong in which rule is in mutations_test.go.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// ruleFiles lists the files that users load.
var ruleFiles = []string{"absent.rules.yml", "keyhealth.rules.yml"}

// promtoolTimeout bounds one run, which takes well under a second.
const promtoolTimeout = time.Minute

func TestRulesCheck(t *testing.T) {
	promtool := redistest.Require(t, "promtool")
	out, err := run(t, promtool, ".", append([]string{"check", "rules", "--lint-fatal"}, ruleFiles...)...)
	if err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}

func TestRulesUnitTests(t *testing.T) {
	promtool := redistest.Require(t, "promtool")
	out, err := run(t, promtool, ".", append([]string{"test", "rules"}, testFiles(t)...)...)
	if err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}

// TestMutations changes one thing in one rule at a time and wants the unit
// tests of that rule to notice.
func TestMutations(t *testing.T) {
	promtool := redistest.Require(t, "promtool")
	rules, mutations := splitRules(t), mutations()
	t.Run("every rule has mutations", func(t *testing.T) {
		for name := range rules {
			if _, ok := mutations[name]; !ok {
				t.Errorf("rule %s has no entry in the mutations", name)
			}
		}
	})
	slots := make(chan struct{}, 2) // promtool processes at a time
	for name, mutated := range mutations {
		rule, ok := rules[name]
		if !ok {
			t.Errorf("mutations name a rule that does not exist: %s", name)
			continue
		}
		whole := []edit{{rule.file.text[rule.start:rule.end], ""}} // the rule is gone
		for i, e := range slices.Concat(whole, mutated.edits, headEdits(t, rule)) {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				wantNoticed(t, promtool, rule.mutate(t, e), mutated.tests)
				if t.Failed() {
					t.Logf("the change was:\n- %s\n+ %s", e.from, e.to)
				}
			})
		}
	}
}

// wantNoticed fails unless promtool finds a test in one of the files that the
// mutated rules fail. A rule that does not even load proves nothing.
func wantNoticed(t *testing.T, promtool string, m file, files []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, m.name), []byte(m.text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := run(t, promtool, dir, "test", "rules", name)
		switch {
		case err == nil:
			continue
		case !strings.Contains(out, "got:"):
			t.Errorf("promtool failed for another reason than a test: %v\n%s", err, out)
		}
		return
	}
	t.Errorf("no test in %v noticed", files)
}

// A file is a rules file with its whole text.
type file struct{ name, text string }

// A rule is one alerting rule of a file: text[start:end].
type rule struct {
	file       file
	start, end int
}

// An edit replaces a text that occurs exactly once in a rule.
type edit struct{ from, to string }

// mutate returns the rule's file with the edit done.
func (r rule) mutate(t *testing.T, e edit) file {
	t.Helper()
	text := r.file.text[r.start:r.end]
	if n := strings.Count(text, e.from); n != 1 || e.from == e.to {
		t.Fatalf("%q occurs %d times, want once, and replaced by something else, in:\n%s", e.from, n, text)
	}
	text = r.file.text[:r.start] + strings.Replace(text, e.from, e.to, 1) + r.file.text[r.end:]
	return file{r.file.name, text}
}

var (
	ruleLine     = regexp.MustCompile(`(?m)^ *- (?:alert|record): ([\w:]+)$`)
	durationLine = regexp.MustCompile(`(?m)^ *(for|keep_firing_for): (\d+)([mh])\n`)
	severityLine = regexp.MustCompile(`(?m)^ *severity: (\w+)$`)
)

// splitRules returns the rules of all files by the name of their alert or record. The
// second rule of the same name is NAME#2.
func splitRules(t *testing.T) map[string]rule {
	t.Helper()
	rules := make(map[string]rule)
	for _, name := range ruleFiles {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := file{name, string(b)}
		found := ruleLine.FindAllStringSubmatchIndex(f.text, -1)
		for i, at := range found {
			end := len(f.text)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			named := f.text[at[2]:at[3]]
			key := named
			for n := 2; rules[key].end != 0; n++ {
				key = fmt.Sprintf("%s#%d", named, n)
			}
			rules[key] = rule{f, at[0], end}
		}
	}
	return rules
}

// headEdits makes the edits that every alert needs: each duration shorter,
// longer and gone, another severity.
func headEdits(t *testing.T, r rule) []edit {
	t.Helper()
	text := r.file.text[r.start:r.end]
	if strings.Contains(text, "- record: ") {
		return nil
	}
	var edits []edit
	for _, m := range durationLine.FindAllStringSubmatch(text, -1) {
		minutes, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if m[3] == "h" {
			minutes *= 60
		}
		// Ranges that are open on the left since Prometheus 3 move the end of
		// an alert by a minute: the tests of keep_firing_for leave room for it.
		step := 1
		if m[1] == "keep_firing_for" {
			step = 3
		}
		line := func(minutes int) string {
			return strings.Replace(m[0], m[2]+m[3], strconv.Itoa(minutes)+"m", 1)
		}
		edits = append(edits, edit{m[0], line(minutes - step)}, edit{m[0], line(minutes + step)}, edit{m[0], ""})
	}
	severity := severityLine.FindStringSubmatch(text)
	if severity == nil || len(edits) == 0 {
		t.Fatalf("no severity, or no duration, in:\n%s", text)
	}
	other := map[string]string{"critical": "warning", "warning": "info", "info": "warning"}[severity[1]]
	return append(edits, edit{severity[0], strings.Replace(severity[0], severity[1], other, 1)})
}

// testFiles returns the names of all unit test files.
func testFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*_test.yml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no *_test.yml found (%v)", err)
	}
	return names
}

// run runs a program in dir and returns what it printed.
func run(t *testing.T, program, dir string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), promtoolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	// Hundreds of short runs: less collection of garbage, one core each.
	cmd.Env = append(cmd.Environ(), "GOGC=400", "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

package alerts

// What hangs on the rules beside their unit tests: the PrometheusRule of deploy/,
// which is made of the same files, and a runbook for each alert.

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the PrometheusRule of deploy/ anew")

const (
	operatorFile = "../deploy/prometheusrule.yaml"
	runbooks     = "../docs/runbooks"
)

const operatorHead = `# The alert rules of alerts/ for the Prometheus operator, made of them by "make docs"; do not edit.
#
#   kubectl apply -f deploy/prometheusrule.yaml
#
# A Prometheus that selects its rules by label (ruleSelector) needs that label here too.

apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: keyhealth
  labels:
    app.kubernetes.io/name: keyhealth
spec:
  groups:
`

// operatorRules is the PrometheusRule: the lists of groups of all rules files.
func operatorRules(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(operatorHead)
	for _, name := range ruleFiles {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, groups, ok := strings.Cut(string(text), "\ngroups:\n")
		if !ok {
			t.Fatalf("%s has no list of groups", name)
		}
		for line := range strings.Lines(groups) {
			if strings.TrimSpace(line) != "" {
				line = "  " + line
			}
			b.WriteString(line)
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func TestOperatorRules(t *testing.T) {
	want := operatorRules(t)
	if *update {
		if err := os.WriteFile(operatorFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(operatorFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the rules files say: make docs", operatorFile)
	}
	// Indented text is the same rules: compare what both mean.
	var operator struct{ Spec struct{ Groups []any } }
	if err := yaml.Unmarshal(got, &operator); err != nil {
		t.Fatal(err)
	}
	var groups []any
	for _, name := range ruleFiles {
		groups = append(groups, parseRules(t, name)...)
	}
	if !reflect.DeepEqual(operator.Spec.Groups, groups) {
		t.Errorf("the groups of %s mean something else than those of the rules files", operatorFile)
	}
}

// parseRules is the list of groups of a rules file.
func parseRules(t *testing.T, name string) []any {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []any }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return file.Groups
}

var (
	runbookLine = regexp.MustCompile(`(?m)^ *runbook: docs/runbooks/(\w+)\.md$`)
	// runbookParts are the questions that every runbook answers, in order.
	runbookParts = []string{"## What it means", "## Confirm", "## Usual causes", "## Stop the bleeding", "## Fix the code", "## How to know that it worked"}
)

func TestRunbooks(t *testing.T) {
	used := map[string]bool{}
	for name, rule := range splitRules(t) {
		if strings.Contains(name, ":") {
			continue // a recording rule
		}
		alert, _, _ := strings.Cut(name, "#")
		used[alert] = true
		line := runbookLine.FindStringSubmatch(rule.file.text[rule.start:rule.end])
		if line == nil || line[1] != alert {
			t.Errorf("the rule %s needs the annotation runbook: docs/runbooks/%s.md", name, alert)
		}
	}
	for alert := range used {
		text, err := os.ReadFile(filepath.Join(runbooks, alert+".md"))
		if err != nil {
			t.Errorf("no runbook: %v", err)
			continue
		}
		if !strings.HasPrefix(string(text), "# "+alert+"\n") {
			t.Errorf("the runbook of %s has another title", alert)
		}
		at := 0
		for _, part := range runbookParts {
			i := strings.Index(string(text)[at:], part)
			if i < 0 {
				t.Errorf("the runbook of %s has no %q, or not in its place", alert, part)
				break
			}
			at += i
		}
	}
	names, err := filepath.Glob(runbooks + "/Keyhealth*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if alert := strings.TrimSuffix(filepath.Base(name), ".md"); !used[alert] {
			t.Errorf("%s is the runbook of no rule", name)
		}
	}
}

var (
	ownName   = regexp.MustCompile(`\bkeyhealth_[a-z_]+[a-z]\b|\bKEYHEALTH_[A-Z_]+[A-Z]\b`)
	ownSuffix = regexp.MustCompile(`_(sum|count)$`)
	// Expressions for grep and recording rules are no names.
	notOwn = regexp.MustCompile(`\^keyhealth_\S*|\w+:keyhealth_\w+:\w+`)
)

// TestRunbookNames finds metrics and settings in the runbooks and stories that do
// not exist.
func TestRunbookNames(t *testing.T) {
	known := map[string]bool{}
	for _, page := range []string{"../docs/metrics.md", "../docs/settings.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range ownName.FindAllString(string(text), -1) {
			known[name] = true
		}
	}
	seen := 0
	for _, pattern := range []string{runbooks + "/*.md", "../testdata/incidents/*.yaml", "../testdata/healthy/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range ownName.FindAllString(notOwn.ReplaceAllString(string(text), ""), -1) {
				seen++
				if !known[name] && !known[ownSuffix.ReplaceAllString(name, "")] {
					t.Errorf("%s names %s, which does not exist", path, name)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d names were seen", seen)
	}
}

package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func committed(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCommittedFileIsCurrent(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed(t), want) {
		t.Errorf("%s is not what this module writes: go run . in dashboards/generate, or make docs", output)
	}
}

// TestSchema reads the file as strictly as Grafana's SDK can.
func TestSchema(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	text := string(committed(t))
	for _, problem := range strict([]byte(text)) {
		t.Error(problem)
	}
	for name, faulty := range map[string]string{
		"unknown key":                   strings.Replace(text, `"graphTooltip"`, `"graphTooltips"`, 1),
		"wrong type":                    strings.Replace(text, `"w": 4`, `"w": "4"`, 1),
		"missing field":                 strings.Replace(text, `"type": "stat",`, ``, 1),
		"unknown field of a panel type": strings.Replace(text, `"graphMode"`, `"graphmode"`, 1),
		"inputs":                        strings.Replace(text, `"uid": "keyhealth"`, `"__inputs": [], "uid": "keyhealth"`, 1),
	} {
		if faulty == text || len(strict([]byte(faulty))) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// strict lists what the schema refuses. The error is never nil.
func strict(text []byte) []string {
	var d dashboard.Dashboard //nolint:staticcheck // the classic one
	err := d.UnmarshalJSONStrict(text)
	var refused cog.BuildErrors
	if !errors.As(err, &refused) {
		return []string{err.Error()}
	}
	var problems []string
	for _, one := range refused {
		problems = append(problems, one.Error())
	}
	return problems
}

// TestUnits looks the units up in the SDK's list of those that Grafana has.
func TestUnits(t *testing.T) {
	known := knownUnits(t)
	if !slices.Contains(known, "percentunit") || slices.Contains(known, "percent01") {
		t.Fatalf("the list of units is wrong: %q", known)
	}
	used := regexp.MustCompile(`"unit": "([^"]*)"|"id": "unit",\s*"value": "([^"]*)"`).FindAllSubmatch(committed(t), -1)
	if len(used) == 0 {
		t.Error("no units found")
	}
	for _, m := range used {
		if unit := string(m[1]) + string(m[2]); !slices.Contains(known, unit) {
			t.Errorf("Grafana has no unit %q", unit)
		}
	}
}

// knownUnits reads the constants of the SDK's package of units.
func knownUnits(t *testing.T) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/grafana/grafana-foundation-sdk/go/units").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of the units (%v)", err)
	}
	var units []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				unit, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				units = append(units, unit)
			}
			return true
		})
	}
	return units
}

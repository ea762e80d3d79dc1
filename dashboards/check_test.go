// What a dashboard must be beyond Grafana's schema. Each check answers with
// problems, so that mutations_test.go can prove that it finds them.

package dashboards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDashboard(t *testing.T) {
	for _, problem := range problems(parse(t, shipped(t))) {
		t.Error(problem)
	}
}

// report takes one problem.
type report func(format string, args ...any)

func problems(b board) []string {
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	checkHead(b, say)
	checkGrid(b, say)
	checkVariables(b, say)
	checkWords(b.tree, "", say)
	titles, ids := map[string]bool{}, map[int]bool{}
	for _, p := range b.Panels {
		about := func(format string, args ...any) { say("panel %q: "+format, append([]any{p.Title}, args...)...) }
		if p.Title == "" || titles[p.Title] {
			about("its title is missing or not its own")
		}
		if p.ID <= 0 || ids[p.ID] {
			about("its id %d is missing or not its own", p.ID)
		}
		titles[p.Title], ids[p.ID] = true, true
		if p.Type != "row" {
			checkPanel(p, about)
			checkTargets(b, p, about)
			checkLooks(p, about)
			checkTable(p, about)
		}
	}
	return found
}

func checkHead(b board, say report) {
	if b.UID != "keyhealth" || b.Title != "keyhealth" || b.Description == "" {
		say("uid, title or description are not as they should be")
	}
	if b.SchemaVersion < 36 || b.SchemaVersion > 39 { // Grafana 9.1 to 10.4
		say("schemaVersion %d: Grafana 10 must be able to read it", b.SchemaVersion)
	}
	root, _ := b.tree.(map[string]any)
	for _, key := range []string{"__inputs", "__requires", "id"} {
		if _, ok := root[key]; ok {
			say("%s does not belong into a dashboard that is provisioned", key)
		}
	}
}

// checkGrid finds panels outside the grid or on top of each other.
func checkGrid(b board, say report) {
	taken := map[[2]int]string{}
	for _, p := range b.Panels {
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 {
			say("panel %q: outside the 24 columns of the grid", p.Title)
			continue
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					say("panel %q: overlaps %q", p.Title, other)
					return
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

func checkPanel(p panel, say report) {
	if !slices.Contains([]string{"stat", "timeseries", "table"}, p.Type) {
		say("unknown type %q", p.Type)
	}
	if len(p.Description) < 40 || !strings.HasSuffix(p.Description, ".") {
		say("its description does not say what it shows and what to do")
	}
	if p.FieldConfig.Defaults.NoValue == "" {
		say("says nothing where there are no data")
	}
	if !usesVariable(p.Datasource) {
		say("its data source is not the variable")
	}
	if p.Type != "table" && p.FieldConfig.Defaults.Unit == "" {
		say("has no unit")
	}
}

func usesVariable(s *source) bool {
	return s != nil && s.Type == "prometheus" && s.UID == "${datasource}"
}

var byPattern = regexp.MustCompile(`\bby \(([^)]*)\)`)

func checkTargets(b board, p panel, say report) {
	if len(p.Targets) == 0 {
		say("asks for nothing")
	}
	refIDs := map[string]bool{}
	for _, q := range p.Targets {
		about := func(format string, args ...any) { say("query %q: "+format, append([]any{q.RefID}, args...)...) }
		if !regexp.MustCompile(`^[A-Z]$`).MatchString(q.RefID) || refIDs[q.RefID] {
			about("its refId is missing or not its own")
		}
		refIDs[q.RefID] = true
		if !usesVariable(q.Datasource) {
			about("its data source is not the variable")
		}
		if q.Instant == q.Range || q.Instant != (p.Type != "timeseries") {
			about("graphs ask for a range, the others for the present")
		}
		if (q.Format == "table") != (p.Type == "table") || (q.LegendFormat == "") != (p.Type == "table") {
			about("tables need the format table and nothing else does; the others need a legend")
		}
		if strings.Contains(q.Expr, "$__rate_interval") && q.Interval != "1m" {
			about("a rate has to look back over several sweeps")
		}
		checkLegend(q, about)
		checkVariableUse(b, q.Expr+q.LegendFormat, about)
		checkMetrics(q.Expr, about)
	}
}

// checkLegend looks for labels that the expression does not keep.
func checkLegend(q target, say report) {
	kept := map[string]bool{}
	for _, by := range byPattern.FindAllStringSubmatch(q.Expr, -1) {
		for label := range strings.SplitSeq(by[1], ",") {
			kept[strings.TrimSpace(label)] = true
		}
	}
	for _, label := range regexp.MustCompile(`\{\{(.*?)\}\}`).FindAllStringSubmatch(q.LegendFormat, -1) {
		if !kept[label[1]] {
			say("the legend names the label %q, which is not kept", label[1])
		}
	}
}

func checkVariables(b board, say report) {
	var names []string
	used := fmt.Sprint(b.tree)
	for _, v := range b.Templating.List {
		about := func(format string, args ...any) { say("variable %q: "+format, append([]any{v.Name}, args...)...) }
		names = append(names, v.Name)
		if v.Label == "" {
			about("has no label")
		}
		if !strings.Contains(used, "$"+v.Name) && !strings.Contains(used, "${"+v.Name+"}") {
			about("is not used")
		}
		switch v.Type {
		case "datasource":
			if v.text() != "prometheus" {
				about("is no Prometheus")
			}
		case "query":
			checkQueryVariable(b, v, about)
		default:
			about("unknown type %q", v.Type)
		}
	}
	if want := []string{"datasource", "target", "db", "group"}; !slices.Equal(names, want) {
		say("the variables are %v, want %v", names, want)
	}
}

func checkQueryVariable(b board, v variable, say report) {
	if !usesVariable(v.Datasource) {
		say("its data source is not the variable")
	}
	if !v.Multi || !v.IncludeAll || v.AllValue != ".*" || v.Refresh != 2 {
		say("must take several values and all, and look for new ones")
	}
	if v.Definition != v.text() || !labelValues.MatchString(v.text()) {
		say("its query %q is not understood", v.text())
	}
	checkVariableUse(b, v.text(), say)
	checkNames(v.text(), say)
}

// builtin are variables that Grafana defines.
var builtin = []string{"__rate_interval"}

// checkVariableUse looks for variables that nobody defines.
func checkVariableUse(b board, text string, say report) {
	for _, m := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(text, -1) {
		defined := slices.ContainsFunc(b.Templating.List, func(v variable) bool { return v.Name == m[1] })
		if !defined && !slices.Contains(builtin, m[1]) {
			say("the variable $%s is not defined", m[1])
		}
	}
}

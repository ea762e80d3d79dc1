package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Result is what became of a file.
type Result struct {
	File     File
	Alerts   []Alert // of the whole story
	ByStep   map[int][]Alert
	Metrics  []string      // conditions that do not hold
	Detected time.Duration // from the last command of the start to a scrape with its figures
}

// whole are the alerts of all steps together.
func whole(byStep map[int][]Alert) []Alert {
	all := map[string]Alert{}
	for _, alerts := range byStep {
		for _, a := range alerts {
			key := a.Name + " " + a.Severity
			if old, ok := all[key]; ok {
				a.Pending, a.Fired = earlier(a.Pending, old.Pending), earlier(a.Fired, old.Fired)
			}
			all[key] = a
		}
	}
	var list []Alert
	for _, a := range all {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Alert) int {
		if a.Fired != b.Fired {
			return int(a.Fired/time.Second - b.Fired/time.Second)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// fired says whether one of the alerts fired under this name.
func fired(alerts []Alert, name string) bool {
	return slices.ContainsFunc(alerts, func(a Alert) bool { return a.Name == name && a.Fired >= 0 })
}

// wrong compares alerts with what is expected. Where silent is set, not even an
// alert of severity info may fire unless it is named.
func wrong(e Expect, alerts []Alert, silent bool) (found []string) {
	for _, name := range e.Fires {
		if !fired(alerts, name) {
			found = append(found, name+" should fire and does not")
		}
	}
	for _, name := range e.Quiet {
		if fired(alerts, name) {
			found = append(found, name+" fires and should not")
		}
	}
	for _, a := range alerts {
		exempt := a.Severity == "info" && !silent || slices.Contains(e.Fires, a.Name) || slices.Contains(e.Quiet, a.Name)
		if (e.Exact || silent) && a.Fired >= 0 && !exempt {
			found = append(found, fmt.Sprintf("%s (%s) fires and nobody expects it", a.Name, a.Severity))
		}
	}
	return found
}

// Report says in a few lines what is wrong with a result, or nothing.
func (r Result) Report(silent bool) string {
	problems := append(slices.Clone(r.Metrics), wrong(r.File.Start.Expect, r.Alerts, silent)...)
	for i, step := range r.File.Steps {
		for _, problem := range wrong(step.Expect, r.ByStep[i+1], false) {
			problems = append(problems, fmt.Sprintf("step at %v: %s", time.Duration(step.At), problem))
		}
	}
	if len(problems) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", r.File.Name, r.File.Path)
	for _, problem := range problems {
		fmt.Fprintf(&b, "  WRONG %s\n", problem)
	}
	fmt.Fprintf(&b, "  expected: fires %v, quiet %v, exact %v\n  came:     ", r.File.Start.Expect.Fires, r.File.Start.Expect.Quiet, r.File.Start.Expect.Exact)
	var came []string
	for _, a := range r.Alerts {
		if a.Fired >= 0 {
			came = append(came, fmt.Sprintf("%s (%s) at %v", a.Name, a.Severity, a.Fired))
		} else {
			came = append(came, fmt.Sprintf("%s (%s) only pending, at %v", a.Name, a.Severity, a.Pending))
		}
	}
	if len(came) == 0 {
		came = []string{"nothing"}
	}
	b.WriteString(strings.Join(came, "\n            ") + "\n")
	return b.String()
}

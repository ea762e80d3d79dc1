package incident

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	interval = time.Minute // of scrapes and evaluations
	// tail is how long the last state stands: longer than any rule waits.
	tail = 2 * time.Hour
	// staleAfter is when an exporter with the default interval drops old data.
	staleAfter = 3 * time.Minute
)

// State is a scrape and where it stands in virtual time.
type State struct {
	Step    int // of the file; 0 is the start
	At      time.Duration
	Scraped time.Time
	Samples []Sample
}

// live says whether the last sweep succeeded: then unix times move on.
func (s State) live() bool {
	return slices.ContainsFunc(s.Samples, func(x Sample) bool { return x.Name == "keyhealth_sweep_success" && x.Value == 1 })
}

// Timeline lays states over virtual time.
type Timeline struct {
	states []State
	sets   Sets
}

// Add adds a later state, with what is set from then on.
func (l *Timeline) Add(state State, sets Sets) {
	for _, set := range sets {
		set.at = state.At
		// A later word about the same series wins; a slope leaves the value.
		l.sets = append(slices.DeleteFunc(l.sets, func(old Set) bool {
			return old.selector.String() == set.selector.String() && (old.sloping || !set.sloping)
		}), set)
	}
	for _, set := range l.sets {
		state.Samples = set.apply(state.Samples, state.At)
	}
	if last := len(l.states) - 1; last >= 0 && l.states[last].At == state.At {
		l.states[last] = state
		return
	}
	l.states = append(l.states, state)
}

// ends is when each state ends.
func (l *Timeline) ends() []time.Duration {
	var ends []time.Duration
	for _, state := range l.states[1:] {
		ends = append(ends, state.At)
	}
	return append(ends, l.states[len(l.states)-1].At+tail)
}

// series has the values of each series, in promtool's notation.
func (l *Timeline) series() map[string]string {
	values := map[string][]string{}
	samplesUntil := 0 // how many samples the states so far have had
	for i, end := range l.ends() {
		state := l.states[i]
		steps := int(end/interval) - samplesUntil
		seen := map[string]bool{}
		for _, sample := range state.Samples {
			name := sample.Series()
			if values[name] == nil && samplesUntil > 0 {
				values[name] = []string{fmt.Sprintf("_x%d", samplesUntil)}
			}
			values[name] = append(values[name], state.notation(sample, steps))
			seen[name] = true
		}
		for name := range values {
			if seen[name] {
				continue
			}
			values[name] = append(values[name], "stale")
			if steps > 1 {
				values[name] = append(values[name], fmt.Sprintf("_x%d", steps-1))
			}
		}
		samplesUntil += steps
	}
	all := map[string]string{}
	for name, parts := range values {
		all[name] = strings.Join(parts, " ")
	}
	return all
}

// notation is a sample that stands for some steps: "value+slope x steps-1".
func (s State) notation(sample Sample, steps int) string {
	value, slope := sample.Value, sample.Slope
	if strings.HasSuffix(sample.Name, "_timestamp_seconds") && value != 0 {
		value += s.At.Seconds() - float64(s.Scraped.UnixMilli())/1e3
		if s.live() {
			slope++
		}
	}
	text := number(value)
	if steps == 1 {
		return text
	}
	sign := "+"
	if slope < 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%s%sx%d", text, sign, number(math.Abs(slope)*interval.Seconds()), steps-1)
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// promtoolTest is the file of a rules test with one question for each state: when
// did which alert first wait, and fire. The answers are wanted to be none, so
// that promtool tells them all.
func (l *Timeline) promtoolTest(ruleFiles []string) ([]byte, error) {
	type series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	type question struct {
		Expr     string `yaml:"expr"`
		EvalTime string `yaml:"eval_time"`
	}
	var all []series
	for name, values := range l.series() {
		all = append(all, series{name, values})
	}
	var questions []question
	for i, end := range l.ends() {
		last := end - interval
		// Half a minute more, because Prometheus 3 leaves out the left end of a range.
		questions = append(questions, question{
			fmt.Sprintf(`label_replace(min by (alertname, severity, alertstate) (min_over_time(timestamp(ALERTS)[%ds:1m])), "step", "%d", "", "")`,
				int((last-l.states[i].At).Seconds())+30, l.states[i].Step),
			fmt.Sprintf("%ds", int(last.Seconds())),
		})
	}
	return yaml.Marshal(map[string]any{
		"rule_files":          ruleFiles,
		"evaluation_interval": interval.String(),
		"group_eval_order":    []string{"keyhealth-recording", "keyhealth-memory"},
		"tests":               []any{map[string]any{"interval": interval.String(), "input_series": all, "promql_expr_test": questions}},
	})
}

// Alert is one that waited or fired in a state.
type Alert struct {
	Name, Severity string
	Pending, Fired time.Duration // when first; -1: it did not
}

// earlier is the first of two moments, of which -1 is never.
func earlier(a, b time.Duration) time.Duration {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

var (
	answerForm = regexp.MustCompile(`\{([^{}]*)\} ([-+.0-9E]+)`)
	labelForm  = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// answers reads what promtool said, by step.
func answers(output string) map[int][]Alert {
	found := map[int]map[string]Alert{}
	for line := range strings.Lines(output) {
		_, got, ok := strings.Cut(line, "got:")
		if !ok {
			continue
		}
		for _, answer := range answerForm.FindAllStringSubmatch(got, -1) {
			labels := map[string]string{}
			for _, label := range labelForm.FindAllStringSubmatch(answer[1], -1) {
				labels[label[1]] = label[2]
			}
			seconds, _ := strconv.ParseFloat(answer[2], 64)
			step, _ := strconv.Atoi(labels["step"])
			if found[step] == nil {
				found[step] = map[string]Alert{}
			}
			key := labels["alertname"] + " " + labels["severity"]
			alert, ok := found[step][key]
			if !ok {
				alert = Alert{labels["alertname"], labels["severity"], -1, -1}
			}
			if at := time.Duration(seconds) * time.Second; labels["alertstate"] == "firing" {
				alert.Fired = earlier(alert.Fired, at)
			} else {
				alert.Pending = earlier(alert.Pending, at)
			}
			found[step][key] = alert
		}
	}
	alerts := map[int][]Alert{}
	for step, named := range found {
		for _, alert := range named {
			alerts[step] = append(alerts[step], alert)
		}
		slices.SortFunc(alerts[step], func(a, b Alert) int { return strings.Compare(a.Name+a.Severity, b.Name+b.Severity) })
	}
	return alerts
}

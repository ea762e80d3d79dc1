// What a case of failures_test.go has to play with, and what is shown of it: the
// log and the series that a user alerts on, without what differs from run to run.

package exportertest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// stage is what a case has set up.
type stage struct {
	*testing.T
	server   *redistest.Server
	proxy    *redistest.Proxy // before it
	client   *redis.Client    // of the server, past the proxy
	other    *redistest.Server
	cluster  *redistest.Cluster
	file     string
	settings Settings
	vague    bool // it is chance what a sweep was doing when it failed
	exporter *Exporter
	told     int // bytes of the log that were shown
}

// send sends a command to the server.
func (s *stage) send(words ...any) {
	s.Helper()
	if err := s.client.Do(s.Context(), words...).Err(); err != nil {
		s.Fatalf("%v: %v", words, err)
	}
}

// sends is an act that sends one command between two sweeps.
func sends(words ...any) func(*stage) {
	return idle(func(s *stage) { s.Helper(); s.send(words...) })
}

// idle lets something happen between two sweeps: so the next one is the first to
// meet it, and meets it whole.
func idle(do func(*stage)) func(*stage) {
	return func(s *stage) { s.proxy.WhileIdle(func() { do(s) }) }
}

var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// whatDiffers is what differs from run to run.
var whatDiffers = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`time=\S+ `), ""},
	{regexp.MustCompile(`source=\S+ `), ""},
	{address, "ADDRESS"},
	{regexp.MustCompile(`duration=\S+`), "duration=DURATION"},
}

// chance takes the place of an error that depends on what a sweep was doing.
var chance = regexp.MustCompile(`err="[^"]*"`)

// ordinary are the lines of a start and an end in which nothing goes wrong.
var ordinary = regexp.MustCompile(`msg="(keyhealth is starting|Listening on|TLS is disabled\.|keyhealth has stopped)"`)

// lines are those that the exporter has logged since the last call.
func (s *stage) lines() string {
	s.Helper()
	all := s.exporter.Output()
	var b strings.Builder
	for line := range strings.Lines(all[s.told:]) {
		for _, secret := range secrets {
			if strings.Contains(line, secret) {
				s.Errorf("%q shows in the log: %s", secret, line)
			}
		}
		if ordinary.MatchString(line) {
			continue
		}
		for _, d := range whatDiffers {
			line = d.pattern.ReplaceAllString(line, d.instead)
		}
		if s.vague {
			line = chance.ReplaceAllString(line, "err=CHANCE")
		}
		b.WriteString(line)
	}
	s.told = len(all)
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// shown are the series of a golden file, each with all its labels but the target.
var shown = []struct {
	name   string
	labels string // of which series; empty: all
	as     func(float64) string
	data   bool // not health: it goes when it is too old
}{
	{name: "keyhealth_up", as: exactly},
	{name: "keyhealth_node_up", as: exactly},
	{name: "keyhealth_node_swept", as: exactly},
	{name: "keyhealth_sweep_success", as: exactly},
	{name: "keyhealth_sweep_last_success_timestamp_seconds", as: some},
	{name: "keyhealth_sweep_failures_total", as: notNone},
	{name: "keyhealth_capability", as: onlyNone},
	{name: "keyhealth_error_replies_total", as: notNone},
	{name: "keyhealth_memory_used_bytes", as: some, data: true},
	{name: "keyhealth_keys", as: exactly, data: true},
	{name: "keyhealth_keys_without_ttl", as: exactly, data: true},
	{name: "keyhealth_group_keys", labels: "group=limit", as: exactly, data: true},
}

func exactly(v float64) string { return fmt.Sprint(v) }

// some says no more than that there is a value.
func some(v float64) string {
	if v == 0 {
		return "0"
	}
	return "above 0"
}

// notNone leaves zeros out, onlyNone all else.
func notNone(v float64) string {
	if v == 0 {
		return ""
	}
	return some(v)
}

func onlyNone(v float64) string {
	if v != 0 {
		return ""
	}
	return "0"
}

// health are the shown series.
func (s *stage) health(m Metrics) string {
	s.Helper()
	var b strings.Builder
	for _, row := range shown {
		var series []string
		for _, metric := range m.families[row.name].GetMetric() {
			if row.labels != "" && !carries(metric, []string{row.labels}) {
				continue
			}
			var labels []string
			for _, label := range metric.GetLabel() {
				if label.GetName() != "target" {
					labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
				}
			}
			value := metric.GetGauge().GetValue()
			if metric.Counter != nil {
				value = metric.GetCounter().GetValue()
			}
			if text := row.as(value); text != "" {
				line := fmt.Sprintf("%s{%s} %s\n", row.name, strings.Join(labels, ","), text)
				series = append(series, strings.Replace(address.ReplaceAllString(line, "ADDRESS"), "{}", "", 1))
			}
		}
		if row.data && series == nil {
			series = append(series, row.name+" absent\n")
		}
		slices.Sort(series)
		b.WriteString(strings.Join(series, ""))
	}
	if status, _, err := s.exporter.Get("/-/ready"); err != nil || status != 200 {
		s.Errorf("readiness is %d (%v), want 200: failures must be scraped", status, err)
	}
	return b.String()
}

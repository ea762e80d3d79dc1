package collector

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// TestLog: one line for each change of state, and none for more of the same.
func TestLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 10, 0)
		w := watch(t, targetOf(t, "limit=limit:*@1h"), n)
		deny := func(command string, denied bool) func() { return func() { n.Deny(command, denied) } }
		script := func(f func(context.Context, fake.Call) error) func() { return func() { n.Script(f) } }
		for _, step := range []struct {
			name   string
			change func()
			want   []string // parts of the lines, one each
		}{
			{"start", func() {}, []string{`level=INFO msg="First sweep done" target=shop keys_examined=10`}},
			{"nothing new", func() {}, nil},
			{"down", script(fake.FailOn("connect", fake.CutError())), []string{`level=ERROR msg="Sweep failed" target=shop reason=unreachable`}},
			{"still down", func() {}, nil},
			{"another reason", script(fake.FailOn("connect", source.Refusal("LOADING"))), []string{`level=ERROR msg="Sweep failed" target=shop reason=loading`}},
			{"up", script(nil), []string{`level=INFO msg="Sweeps succeed again"`}},
			{"a capability refused", deny("memory", true), []string{`level=WARN msg="Redis refuses a command" target=shop capability=memory_usage`}},
			{"still refused", func() {}, nil},
			{"another one too", deny("time", true), []string{`capability=time permit_with="ACL SETUSER <user> +time"`}},
			{"both permitted", func() { n.Deny("time", false); n.Deny("memory", false) }, []string{
				`level=INFO msg="Redis permits it again" target=shop capability=memory_usage`, `capability=time`,
			}},
			{"one is lacking", script(fake.FailOn("memory", source.Refusal("ERR unknown command 'MEMORY'"))), []string{`level=WARN msg="Redis lacks a command" target=shop capability=memory_usage hint=`}},
			{"it is there", script(nil), []string{`level=INFO msg="Redis permits it again" target=shop capability=memory_usage`}},
			{"a required one", deny("scan", true), []string{`level=ERROR msg="Sweep failed" target=shop reason=no_permission`, `capability=scan permit_with="ACL SETUSER <user> +scan"`}},
			{"still refused", func() {}, nil},
		} {
			step.change()
			pass(2 * time.Minute)
			lines := w.log()
			if !slices.EqualFunc(lines, step.want, strings.Contains) {
				t.Errorf("%s: logged\n%s\nwant\n%s", step.name, strings.Join(lines, "\n"), strings.Join(step.want, "\n"))
			}
		}
	})
}

// TestLogOfAFirstFailure: the success after it is no first sweep.
func TestLogOfAFirstFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Script(fake.FailOn("connect", &source.Failure{Reason: source.ReasonAuth, Err: errors.New("Redis answered WRONGPASS")}))
		w := watch(t, targetOf(t, ""), n)
		pass(time.Minute)
		if lines := w.log(); len(lines) != 1 || !strings.Contains(lines[0], "reason=auth err=") || !strings.Contains(lines[0], "hint=") {
			t.Errorf("logged %q", lines)
		}
		n.Script(nil)
		pass(time.Minute)
		if lines := w.log(); len(lines) != 1 || !strings.Contains(lines[0], "Sweeps succeed again") {
			t.Errorf("logged %q", lines)
		}
	})
}

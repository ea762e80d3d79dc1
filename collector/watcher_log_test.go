package collector

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLog: one line for each change of state, and none for more of the same.
func TestLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "limit:%d", 10, 0)
		w := watch(t, targetOf(t, "limit=limit:*@1h"), n)
		deny := func(command string, denied bool) func() { return func() { n.deny(command, denied) } }
		script := func(f func(context.Context, fakeCall) error) func() { return func() { n.script(f) } }
		for _, step := range []struct {
			name   string
			change func()
			want   []string // parts of the lines, one each
		}{
			{"start", func() {}, []string{`level=INFO msg="First sweep done" target=shop keys_examined=10`}},
			{"nothing new", func() {}, nil},
			{"down", script(failOn("connect", cutError())), []string{`level=ERROR msg="Sweep failed" target=shop reason=unreachable`}},
			{"still down", func() {}, nil},
			{"another reason", script(failOn("connect", refusal("LOADING"))), []string{`level=ERROR msg="Sweep failed" target=shop reason=loading`}},
			{"up", script(nil), []string{`level=INFO msg="Sweeps succeed again"`}},
			{"a capability refused", deny("memory", true), []string{`level=WARN msg="Redis refuses a command" target=shop capability=memory_usage`}},
			{"still refused", func() {}, nil},
			{"another one too", deny("time", true), []string{`capability=time permit_with="ACL SETUSER <user> +time"`}},
			{"both permitted", func() { n.deny("time", false); n.deny("memory", false) }, []string{
				`level=INFO msg="Redis permits it again" target=shop capability=memory_usage`, `capability=time`,
			}},
			{"one is lacking", script(failOn("memory", refusal("ERR unknown command 'MEMORY'"))), []string{`level=WARN msg="Redis lacks a command" target=shop capability=memory_usage hint=`}},
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
		n := newFakeNode(t)
		n.script(failOn("connect", &Failure{Reason: ReasonAuth, Err: errors.New("Redis answered WRONGPASS")}))
		w := watch(t, targetOf(t, ""), n)
		pass(time.Minute)
		if lines := w.log(); len(lines) != 1 || !strings.Contains(lines[0], "reason=auth err=") || !strings.Contains(lines[0], "hint=") {
			t.Errorf("logged %q", lines)
		}
		n.script(nil)
		pass(time.Minute)
		if lines := w.log(); len(lines) != 1 || !strings.Contains(lines[0], "Sweeps succeed again") {
			t.Errorf("logged %q", lines)
		}
	})
}

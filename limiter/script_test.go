// This file owns how scripts reach a server and what becomes of its errors; what
// they decide is tested beside each policy.

package limiter

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"keyhealth/limiter/internal/limitertest"
)

// counted counts what a limiter sends.
type counted struct {
	client
	eval, evalSha int
}

func (c *counted) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	c.eval++
	return c.client.Eval(ctx, script, keys, args...)
}

func (c *counted) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	c.evalSha++
	return c.client.EvalSha(ctx, sha1, keys, args...)
}

// TestScriptIsSentOnce: its text goes over the wire only when the server does
// not know it, and a server that forgets it in between is not noticed.
func TestScriptIsSentOnce(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		c := &counted{client: s.Client}
		l := mustFixedWindow(t, c, 10, hour)
		for call := range 6 {
			if call == 3 {
				run(t, s, "SCRIPT", "FLUSH")
			}
			result, err := l.Allow(t.Context(), "alice")
			if err != nil || !result.Allowed || result.Remaining != int64(9-call) {
				t.Errorf("call %d: %+v, %v", call, result, err)
			}
		}
		if c.evalSha != 6 || c.eval != 2 {
			t.Errorf("EVALSHA %d times and EVAL %d times, want 6 and 2", c.evalSha, c.eval)
		}
	})
}

// TestScriptOnAFullServer: what has no room is refused whole, so it leaves
// nothing either.
func TestScriptOnAFullServer(t *testing.T) {
	onRealServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 10, hour)
		run(t, s, "CONFIG", "SET", "maxmemory", "1")
		if got, err := l.Allow(t.Context(), "alice"); err != nil || got != (Result{Degraded: true}) {
			t.Errorf("on a full server: %+v, %v, want a degraded refusal", got, err)
		}
		if got := s.Look(t, mustKey(t, l, "alice")); got.Type != "none" {
			t.Errorf("the key is %+v, want none", got)
		}
	})
}

// A pipeline has the methods of a client but no answers yet.
func TestScriptNeedsAnAnswer(t *testing.T) {
	_, s := startMini(t)
	l := mustFixedWindow(t, s.Client.Pipeline(), 10, hour)
	if result, err := l.Allow(t.Context(), "alice"); !errors.Is(err, errReply) || result != (Result{}) {
		t.Errorf("in a pipeline: %+v, %v", result, err)
	}
}

// short is a server with another script under the same name.
type short struct{ client }

func (c short) EvalSha(ctx context.Context, _ string, keys []string, args ...any) *redis.Cmd {
	return c.Eval(ctx, "return {1, 2, 3}", keys, args...)
}

func TestScriptAnswerHasToFit(t *testing.T) {
	_, s := startMini(t)
	l := mustFixedWindow(t, short{s.Client}, 10, hour)
	result, err := l.Allow(t.Context(), "alice")
	if !errors.Is(err, errReply) || result != (Result{}) {
		t.Errorf("on an answer of three numbers: %+v, %v", result, err)
	}
}

// TestErrorsNameNoKey: a subject may be a secret, and errors are logged.
func TestErrorsNameNoKey(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 10, hour)
		run(t, s, "LPUSH", mustKey(t, l, "secret-list"), "x")
		run(t, s, "SET", mustKey(t, l, "secret-text"), "x")
		for _, subject := range []string{"secret-list", "secret-text"} {
			if _, err := l.Allow(t.Context(), subject); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("the error is %v", err)
			}
		}
		if _, err := l.AllowN(t.Context(), "secret", 11); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestRights: README.md names the rights that suffice.
func TestRights(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const rights = "+eval +evalsha +time +get +pttl +set +incrby +decrby +del ~keyhealth:*"
	if !strings.Contains(string(readme), "`"+rights+"`") {
		t.Errorf("README.md does not name the rights %s", rights)
	}
	onRealServers(t, func(t *testing.T, s *limitertest.Server) {
		as := func(name, rights string) *Limiter {
			command := []any{"ACL", "SETUSER", name, "on", ">pass"}
			for right := range strings.FieldsSeq(rights) {
				command = append(command, right)
			}
			run(t, s, command...)
			o := *s.Client.Options()
			o.Username, o.Password = name, "pass"
			c := redis.NewClient(&o)
			t.Cleanup(func() { _ = c.Close() })
			return mustFixedWindow(t, c, 10, hour)
		}
		for range 2 {
			if got, err := as("caller", rights).Allow(t.Context(), "alice"); err != nil || got.Degraded {
				t.Errorf("Allow: %+v, %v", got, err)
			}
		}
		onlyPeeks := as("reader", strings.ReplaceAll(rights, "+set +incrby +decrby +del ", ""))
		if result, err := onlyPeeks.Peek(t.Context(), "alice"); err != nil || result.Remaining != 8 {
			t.Errorf("Peek: %+v, %v", result, err)
		}
		if got, err := onlyPeeks.Allow(t.Context(), "alice"); err != nil || !got.Degraded {
			t.Errorf("Allow without the right to write: %+v, %v", got, err)
		}
	})
}

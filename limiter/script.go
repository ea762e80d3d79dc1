// This file owns what scripts consist of, how one gets to the server and what
// its errors mean. It does not know what any script does.

package limiter

import (
	"context"
	"crypto/sha1"
	_ "embed" // for the scripts
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed window.lua
	windowSource string
	//go:embed decide.lua
	decideSource string
	//go:embed settle.lua
	settleSource string
)

// client is what a limiter needs of Redis. The clients of go-redis for a
// server, a Sentinel set, a Cluster and a Ring have it. A pipeline has it too
// but answers later, and is refused by the first call.
type client interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd
}

// script is a Lua script that returns whole numbers.
type script struct {
	source string
	sha    string
}

// scripts are those of a limiter.
type scripts struct{ take, peek, reserve, settle script }

// newScripts joins the parts of the scripts for the policies. What a policy does
// has three sections. The short way decides the call that nearly all are, on a
// sound key with room and of one policy, at half the cost; what it leaves goes the
// long way, which would decide that call alike. Reservations are left out where
// there is none.
func newScripts(windows []window, replace bool) scripts {
	var short, policies string
	for _, w := range windows {
		policies += fmt.Sprintf("%q, ", w.policy)
	}
	head := func(command string) string {
		return fmt.Sprintf("local COMMAND, POLICIES, REPLACE = %q, {%s}, %v\n", command, policies, replace)
	}
	long, reservations := []string{windowSource}, []string{}
	for i, w := range windows {
		if slices.ContainsFunc(windows[:i], func(v window) bool { return v.policy == w.policy }) {
			continue
		}
		before, after, _ := strings.Cut(w.script, "-- The long way.\n")
		short = before
		before, after, _ = strings.Cut(after, "-- Reservations.\n")
		long, reservations = append(long, before), append(reservations, after)
	}
	if len(windows) > 1 {
		short = ""
	}
	plain, all := strings.Join(long, "\n"), strings.Join(append(long, reservations...), "\n")
	return scripts{
		take:    newScript(short, head("take"), plain, decideSource),
		peek:    newScript(head("peek"), plain, decideSource),
		reserve: newScript(head("reserve"), all, decideSource),
		settle:  newScript(head("settle"), all, settleSource),
	}
}

// newScript joins the parts of a script.
func newScript(parts ...string) script {
	source := strings.Join(parts, "\n")
	sum := sha1.Sum([]byte(source)) // the name that Redis gives a script, not a protection
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

// run returns when the server has answered or the deadline of the context has
// passed. A call that nobody waits for any more may still be counted. That the
// context is cancelled go-redis notices before it sends, not while it waits.
func (s script) run(ctx context.Context, c client, keys []string, args []any) ([]any, error) {
	if _, bounded := ctx.Deadline(); !bounded || keepsDeadlines(c) {
		return s.send(ctx, c, keys, args)
	}
	type answer struct {
		numbers []any
		err     error
	}
	done := make(chan answer, 1)
	go func() { // until the client's own timeout, at the latest
		numbers, err := s.send(ctx, c, keys, args)
		done <- answer{numbers, err}
	}()
	select {
	case a := <-done:
		return a.numbers, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keepsDeadlines says whether the client itself ends a call with its context;
// by default one of go-redis waits for its ReadTimeout.
func keepsDeadlines(c client) bool {
	switch c := c.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		return c.Options().ContextTimeoutEnabled
	}
	return false
}

// send sends the script's name, and its text only to a server that does not
// know it: the first time, after a restart or failover, after SCRIPT FLUSH.
func (s script) send(ctx context.Context, c client, keys []string, args []any) ([]any, error) {
	reply := c.EvalSha(ctx, s.sha, keys, args...)
	if err := reply.Err(); err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply = c.Eval(ctx, s.source, keys, args...)
	}
	if err := reply.Err(); err != nil {
		return nil, meaning(err)
	}
	numbers, err := reply.Slice()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errReply, err)
	}
	return numbers, nil
}

// meaning is the error of a script in the words of this package.
func meaning(err error) error {
	switch {
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return ErrWrongType
	case redis.HasErrorPrefix(err, "UNREADABLE"):
		return ErrUnreadable
	case redis.HasErrorPrefix(err, "BADARGUMENT"):
		return fmt.Errorf("%w: %w", errReply, err)
	}
	return err
}

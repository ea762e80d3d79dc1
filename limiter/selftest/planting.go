// This file owns how a key without TTL is planted: for no longer than a script
// runs. A command of its own would leave it for good, were the self-test ended
// between that and the call that heals.

package selftest

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// planting is a client of a limiter that gives the key another TTL, or with 0
// none, in the script that decides.
type planting struct {
	redis.UniversalClient
	ttl time.Duration
}

// EvalSha has the limiter send the text of its script.
func (planting) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(noScript{})
	return cmd
}

// Eval sends it, with the planting before it. What it does not heal must not stay
// either.
func (p planting) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	ttl := ""
	if p.ttl > 0 {
		ttl = ", 'PX', " + strconv.FormatInt(p.ttl.Milliseconds(), 10)
	}
	return p.UniversalClient.Eval(ctx, `redis.call('SET', KEYS[1], redis.call('GET', KEYS[1])`+ttl+`)
local _, answer = pcall(function()
`+script+`
end)
if redis.call('PTTL', KEYS[1]) == -1 then
  redis.call('DEL', KEYS[1])
end
return answer`, keys, args...)
}

// noScript is a redis.Error.
type noScript struct{}

func (noScript) Error() string { return "NOSCRIPT" }

// RedisError implements redis.Error.
func (noScript) RedisError() {}

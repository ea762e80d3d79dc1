// This file owns how a script gets to the server and what its errors mean. It
// does not know what any script does.

package limiter

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// client is what a limiter needs of Redis. The clients of go-redis for a
// server, a Sentinel set, a Cluster and a Ring have it. A pipeline has it too
// but answers later, and is refused by the first call.
type client interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd
}

// script is a Lua script that takes one key and returns whole numbers.
type script struct {
	source string
	sha    string
}

func newScript(source string) script {
	sum := sha1.Sum([]byte(source)) // the name that Redis gives a script, not a protection
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

// run sends the script's name, and its text only to a server that does not
// know it: the first time, after a restart or failover, after SCRIPT FLUSH.
func (s script) run(ctx context.Context, c client, key string, args ...any) ([]int64, error) {
	keys := []string{key}
	reply := c.EvalSha(ctx, s.sha, keys, args...)
	if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
		reply = c.Eval(ctx, s.source, keys, args...)
	}
	switch err := reply.Err(); {
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return nil, ErrWrongType
	case redis.HasErrorPrefix(err, "NOTACOUNT"):
		return nil, ErrNotACount
	case err != nil:
		return nil, err
	}
	numbers, err := reply.Int64Slice()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errReply, err)
	}
	return numbers, nil
}

package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// expireWhenOne is incr-then-expire in one script. No key without TTL comes
// from it, and none is ever repaired by it: a key that an older version or
// another program left has a count above 1, and keeps its TTL of -1.
type expireWhenOne struct {
	client redis.Cmdable
	Options
}

const expireWhenOneScript = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return count`

func expireWhenOneCase() Case {
	return Case{
		Name:   "expire-when-one",
		Story:  "an atomic script that sets the TTL when the count is 1: a key that has none already never gets one",
		Prefix: "api_limit:",
		Faults: []Fault{Zombie, LocksOut},
		New:    func(c redis.Cmdable, o Options) Limiter { return &expireWhenOne{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			// What the version before it left.
			if err := c.Incr(ctx, expireWhenOneCase().Key(subject)).Err(); err != nil {
				return err
			}
			return call(ctx, &expireWhenOne{c, o.with(nil)}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *expireWhenOne) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{expireWhenOneCase().Key(subject)}
	count, err := l.client.Eval(ctx, expireWhenOneScript, keys, l.seconds()).Int64()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

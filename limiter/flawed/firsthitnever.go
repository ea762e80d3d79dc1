package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// firstHitNever asks in its script whether this was the first hit: whether the
// count is what was just added. The count is a number and ARGV is text, which
// are never equal in Lua. No key ever gets a TTL.
type firstHitNever struct {
	client redis.Cmdable
	Options
}

func firstHitNeverCase() Case {
	return Case{
		Name:   "first-hit-never",
		Story:  "a script that compares the count with ARGV, a number with text: it is never the first hit and no key gets a TTL",
		Prefix: "cached_window:",
		Faults: []Fault{Zombie, LocksOut},
		New:    func(c redis.Cmdable, o Options) Limiter { return &firstHitNever{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &firstHitNever{c, o.with(nil)}, subject, 1)
		},
	}
}

const firstHitNeverScript = `
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if count == ARGV[1] then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return count`

// Allow implements [Limiter].
func (l *firstHitNever) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{firstHitNeverCase().Key(subject)}
	count, err := l.client.Eval(ctx, firstHitNeverScript, keys, 1, l.seconds()).Int64()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

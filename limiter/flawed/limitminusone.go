package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// limitMinusOne is an atomic script that refuses at the limit instead of above
// it: of 3000 calls an hour the 3000th is refused. It does not repair a key
// without TTL either.
type limitMinusOne struct {
	client redis.Cmdable
	Options
}

const limitMinusOneScript = `
local count = tonumber(redis.call('GET', KEYS[1]))
if count then
  count = redis.call('INCR', KEYS[1])
  if count >= tonumber(ARGV[1]) then
    return 0
  end
else
  redis.call('SET', KEYS[1], 1, 'EX', ARGV[2])
end
return 1`

func limitMinusOneCase() Case {
	return Case{
		Name:   "limit-minus-one",
		Story:  "an atomic script that compares with >=: the last call that was paid for is refused",
		Prefix: "HOURLY_",
		Faults: []Fault{UnderAdmits, Zombie, LocksOut},
		New:    func(c redis.Cmdable, o Options) Limiter { return &limitMinusOne{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &limitMinusOne{c, o.with(nil)}, subject, o.Limit)
		},
	}
}

// Allow implements [Limiter].
func (l *limitMinusOne) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{limitMinusOneCase().Key(subject)}
	return l.client.Eval(ctx, limitMinusOneScript, keys, l.Limit, l.seconds()).Bool()
}

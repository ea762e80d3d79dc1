package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// renewedWindow sets the TTL at every call, so that no key is ever without. But
// the key's name does not change with the window: who keeps trying, as every
// program does that is told to try again, never gets in again.
type renewedWindow struct {
	client redis.Cmdable
	Options
}

func renewedWindowCase() Case {
	return Case{
		Name:   "renewed-window",
		Story:  "EXPIRE at every hit: the window ends a window after the last try, so who keeps trying is refused for ever",
		Prefix: "throttle:",
		Faults: []Fault{Prolongs},
		New:    func(c redis.Cmdable, o Options) Limiter { return &renewedWindow{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			l := &renewedWindow{c, o.with(nil)}
			if err := call(ctx, l, subject, o.Limit); err != nil {
				return err
			}
			// Half a window later.
			if err := c.PExpire(ctx, renewedWindowCase().Key(subject), o.Window/2).Err(); err != nil {
				return err
			}
			return call(ctx, l, subject, 1)
		},
	}
}

const renewedWindowScript = `
local count = redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return count`

// Allow implements [Limiter].
func (l *renewedWindow) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{renewedWindowCase().Key(subject)}
	count, err := l.client.Eval(ctx, renewedWindowScript, keys, l.seconds()).Int64()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// incrThenExpire counts, and sends EXPIRE after the first count. What ends the
// process or the connection in between (a deploy, a timeout, a failover)
// leaves the count without TTL, and no later call has the result 1.
type incrThenExpire struct {
	client redis.Cmdable
	Options
}

func incrThenExpireCase() Case {
	return Case{
		Name:   "incr-then-expire",
		Story:  "INCR, and EXPIRE as a second command that never arrives",
		Prefix: "login_limit:",
		Faults: []Fault{Zombie, LocksOut},
		New:    func(c redis.Cmdable, o Options) Limiter { return &incrThenExpire{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &incrThenExpire{c, o.with(loseAt(StepIncr))}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *incrThenExpire) Allow(ctx context.Context, subject string) (bool, error) {
	key := incrThenExpireCase().Key(subject)
	count, err := l.client.Incr(ctx, key).Result()
	if err != nil {
		return false, err
	}
	if err := l.after(ctx, StepIncr, key); err != nil {
		return false, err
	}
	if count == 1 {
		if err := l.client.Expire(ctx, key, l.Window).Err(); err != nil {
			return false, err
		}
	}
	return count <= l.Limit, nil
}

package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// existsThenIncr asks whether the key exists and then either counts in it or
// sets it with its TTL. A key that expires after the question is created again
// by INCR, without TTL. Of callers who all find none, each sets it to 1.
type existsThenIncr struct {
	client redis.Cmdable
	Options
}

func existsThenIncrCase() Case {
	return Case{
		Name:   "exists-then-incr",
		Story:  "EXISTS, then INCR: the key expires in between, once an hour for every caller with an hourly limit",
		Prefix: "TOTAL_",
		Faults: []Fault{Zombie, LocksOut, OverAdmits},
		New:    func(c redis.Cmdable, o Options) Limiter { return &existsThenIncr{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			if err := call(ctx, &existsThenIncr{c, o.with(nil)}, subject, 1); err != nil {
				return err
			}
			return call(ctx, &existsThenIncr{c, o.with(expireAt(c, StepExists))}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *existsThenIncr) Allow(ctx context.Context, subject string) (bool, error) {
	key := existsThenIncrCase().Key(subject)
	exists, err := l.client.Exists(ctx, key).Result()
	if err != nil {
		return false, err
	}
	if err := l.after(ctx, StepExists, key); err != nil {
		return false, err
	}
	if exists == 0 {
		err := l.client.Set(ctx, key, 1, l.Window).Err()
		return err == nil, err
	}
	count, err := l.client.Incr(ctx, key).Result()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// existsTTLThenIncr is exists-then-incr as it looks after the incident, with a
// repair: a key without TTL gets one. But the call that repairs is not
// counted, the answer -2 (gone by now) is taken for one to repair, which does
// nothing, and after the answer the key can still expire before INCR.
type existsTTLThenIncr struct {
	client redis.Cmdable
	Options
}

func existsTTLThenIncrCase() Case {
	return Case{
		Name:   "exists-ttl-then-incr",
		Story:  "EXISTS, TTL, and EXPIRE if there is none: what it repairs it does not count, and the race is still there",
		Prefix: "safe_incr:",
		Faults: []Fault{Zombie, OverAdmits},
		New:    func(c redis.Cmdable, o Options) Limiter { return &existsTTLThenIncr{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			if err := call(ctx, &existsTTLThenIncr{c, o.with(nil)}, subject, 1); err != nil {
				return err
			}
			return call(ctx, &existsTTLThenIncr{c, o.with(expireAt(c, StepTTL))}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *existsTTLThenIncr) Allow(ctx context.Context, subject string) (bool, error) {
	key := existsTTLThenIncrCase().Key(subject)
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
	return l.repairOrCount(ctx, key)
}

func (l *existsTTLThenIncr) repairOrCount(ctx context.Context, key string) (bool, error) {
	ttl, err := l.client.TTL(ctx, key).Result()
	if err != nil {
		return false, err
	}
	if err := l.after(ctx, StepTTL, key); err != nil {
		return false, err
	}
	if ttl < 0 {
		err := l.client.Expire(ctx, key, l.Window).Err()
		return err == nil, err
	}
	count, err := l.client.Incr(ctx, key).Result()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

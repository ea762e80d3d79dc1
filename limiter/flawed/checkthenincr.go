package flawed

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// checkThenIncr checks the count, lets the caller do work that takes seconds
// (text recognition, in the incident) and charges for it afterwards, on
// success only. A window that ends during the work makes INCR create the key
// again, without TTL. And whoever comes during the work passes the check too.
type checkThenIncr struct {
	client redis.Cmdable
	Options
}

func checkThenIncrCase() Case {
	return Case{
		Name:   "check-then-incr",
		Story:  "check, do slow work, INCR on success: the key expires during the work and INCR makes a new one without TTL",
		Prefix: "rate_limit:",
		Faults: []Fault{Zombie, LocksOut, OverAdmits},
		New:    func(c redis.Cmdable, o Options) Limiter { return &checkThenIncr{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &checkThenIncr{c, o.with(expireAt(c, StepWork))}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *checkThenIncr) Allow(ctx context.Context, subject string) (bool, error) {
	key := checkThenIncrCase().Key(subject)
	count, err := l.client.Get(ctx, key).Int64()
	if errors.Is(err, redis.Nil) {
		count, err = 0, l.client.Set(ctx, key, 0, l.Window).Err()
	}
	if err != nil || count >= l.Limit {
		return false, err
	}
	if err := l.after(ctx, StepWork, key); err != nil {
		return false, err
	}
	if err := l.client.Incr(ctx, key).Err(); err != nil {
		return false, err
	}
	return true, nil
}

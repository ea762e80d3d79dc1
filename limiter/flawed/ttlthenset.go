package flawed

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// ttlThenSet counts in a key that has at least a second left and starts a new
// window otherwise. TTL rounds to seconds, 499 ms to 0: the count is thrown
// away up to half a second before its window ends. A key without TTL does not
// stay, if its caller comes back, but one still comes about when the key
// expires after the answer.
type ttlThenSet struct {
	client redis.Cmdable
	Options
}

func ttlThenSetCase() Case {
	return Case{
		Name:   "ttl-then-set",
		Story:  "SET a new window when TTL says 0: it says so with half a second left, and the caller gets the limit twice",
		Prefix: "ocr_limit:",
		Faults: []Fault{ResetsEarly, Zombie, OverAdmits},
		New:    func(c redis.Cmdable, o Options) Limiter { return &ttlThenSet{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			l := &ttlThenSet{c, o.with(nil)}
			if err := call(ctx, l, subject, o.Limit); err != nil {
				return err
			}
			if err := c.PExpire(ctx, ttlThenSetCase().Key(subject), 400*time.Millisecond).Err(); err != nil {
				return err
			}
			return call(ctx, l, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *ttlThenSet) Allow(ctx context.Context, subject string) (bool, error) {
	key := ttlThenSetCase().Key(subject)
	ttl, err := l.client.TTL(ctx, key).Result()
	if err != nil {
		return false, err
	}
	if err := l.after(ctx, StepTTL, key); err != nil {
		return false, err
	}
	if ttl < time.Second {
		err := l.client.Set(ctx, key, 1, l.Window).Err()
		return err == nil, err
	}
	count, err := l.client.Incr(ctx, key).Result()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

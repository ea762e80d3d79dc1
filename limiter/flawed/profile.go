package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// profile keeps the count in the hash that caches the user's profile. It was a
// string with SET EX once; HSET takes no TTL and sets none, so that neither the
// profile nor the count ever ends.
type profile struct {
	client redis.Cmdable
	Options
}

func profileCase() Case {
	return Case{
		Name:   "profile",
		Story:  "HSET of a cached profile with the count in it: HSET sets no TTL, and nobody else does",
		Prefix: "user_data:",
		Faults: []Fault{Zombie, LocksOut},
		New:    func(c redis.Cmdable, o Options) Limiter { return &profile{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &profile{c, o.with(nil)}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *profile) Allow(ctx context.Context, subject string) (bool, error) {
	key := profileCase().Key(subject)
	var count *redis.IntCmd
	_, err := l.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.HSet(ctx, key, "name", subject, "plan", "free")
		count = tx.HIncrBy(ctx, key, "calls", 1)
		return nil
	})
	if err != nil {
		return false, err
	}
	return count.Val() <= l.Limit, nil
}

package flawed

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// newType is the new version of a limiter: a sliding log in a sorted set, where
// the version before kept a count in a string of the same name. All commands on
// the old key are refused with WRONGTYPE but one: the EXPIRE of the same
// transaction succeeds, and keeps the old key alive for as long as its caller tries.
type newType struct {
	client redis.Cmdable
	Options
}

func newTypeCase() Case {
	return Case{
		Name:   "new-type",
		Story:  "a new version with another type under the same name: all is refused as WRONGTYPE but EXPIRE, which keeps the old key alive",
		Prefix: "requests:",
		Faults: []Fault{Prolongs},
		New:    func(c redis.Cmdable, o Options) Limiter { return &newType{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			// What the version before it left, half a window ago.
			if err := c.Set(ctx, newTypeCase().Key(subject), o.Limit, o.Window/2).Err(); err != nil {
				return err
			}
			err := call(ctx, &newType{c, o.with(nil)}, subject, 1)
			if redis.HasErrorPrefix(err, "WRONGTYPE") {
				return nil // it is the fault
			}
			return err
		},
	}
}

// Allow implements [Limiter].
func (l *newType) Allow(ctx context.Context, subject string) (bool, error) {
	key := newTypeCase().Key(subject)
	now, err := l.client.Time(ctx).Result()
	if err != nil {
		return false, err
	}
	var count *redis.IntCmd
	_, err = l.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRemRangeByScore(ctx, key, "0", strconv.FormatInt(now.Add(-l.Window).UnixMicro(), 10))
		p.ZAdd(ctx, key, redis.Z{Score: float64(now.UnixMicro()), Member: strconv.FormatInt(now.UnixNano(), 10)})
		count = p.ZCard(ctx, key)
		p.Expire(ctx, key, l.Window)
		return nil
	})
	if err != nil {
		return false, err
	}
	return count.Val() <= l.Limit, nil
}

package flawed

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// readModifySet reads the count, adds one and writes it back. SET without
// KEEPTTL drops the TTL that the first call gave: from the second call on the
// key has none. And of callers who read the same count all but one are lost.
type readModifySet struct {
	client redis.Cmdable
	Options
}

func readModifySetCase() Case {
	return Case{
		Name:   "read-modify-set",
		Story:  "GET, add one, SET: a SET without KEEPTTL drops the TTL at the second call",
		Prefix: "hits:",
		Faults: []Fault{Zombie, LocksOut, OverAdmits},
		New:    func(c redis.Cmdable, o Options) Limiter { return &readModifySet{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &readModifySet{c, o.with(nil)}, subject, 2)
		},
	}
}

// Allow implements [Limiter].
func (l *readModifySet) Allow(ctx context.Context, subject string) (bool, error) {
	key := readModifySetCase().Key(subject)
	count, err := l.client.Get(ctx, key).Int64()
	if errors.Is(err, redis.Nil) {
		err = l.after(ctx, StepGet, key)
		if err == nil {
			err = l.client.Set(ctx, key, 1, l.Window).Err()
		}
		return err == nil, err
	}
	if err != nil || count >= l.Limit {
		return false, err
	}
	if err := l.after(ctx, StepGet, key); err != nil {
		return false, err
	}
	err = l.client.Set(ctx, key, strconv.FormatInt(count+1, 10), 0).Err()
	return err == nil, err
}

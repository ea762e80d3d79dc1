package flawed

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// refund counts with care (SET NX with a TTL and INCR in one transaction) and
// gives the call back with DECR when the work fails. Work that fails after the
// window has ended decrements a key that is gone: it is then -1 without TTL,
// and SET NX never touches a key that exists.
type refund struct {
	client redis.Cmdable
	Options
}

func refundCase() Case {
	return Case{
		Name:   "refund",
		Story:  "DECR when the work fails: after the window it makes a key with -1 and no TTL",
		Prefix: "sms_limit:",
		Faults: []Fault{Zombie, LocksOut, Negative},
		New:    func(c redis.Cmdable, o Options) Limiter { return &refund{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			tooLate := func(ctx context.Context, at Step) error {
				if err := expireAt(c, StepWork)(ctx, at); err != nil {
					return err
				}
				return errLost
			}
			return call(ctx, &refund{c, o.with(tooLate)}, subject, 1)
		},
	}
}

// Allow implements [Limiter].
func (l *refund) Allow(ctx context.Context, subject string) (bool, error) {
	key := refundCase().Key(subject)
	var count *redis.IntCmd
	_, err := l.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.SetNX(ctx, key, 0, l.Window)
		count = tx.Incr(ctx, key)
		return nil
	})
	if err != nil {
		return false, err
	}
	if count.Val() > l.Limit {
		return false, nil
	}
	if failed := l.after(ctx, StepWork, key); failed != nil {
		return false, errors.Join(failed, l.client.Decr(ctx, key).Err())
	}
	return true, nil
}

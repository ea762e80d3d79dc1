package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// windowIndex has the start of the window in the name of its key: a new key each
// window, INCR and EXPIRE one after the other. A connection that is lost in
// between leaves a key that locks nobody out, because its window passes, and that
// nobody ever asks for again: a leak that no limiter can heal.
type windowIndex struct {
	client redis.Cmdable
	Options
}

func windowIndexCase() Case {
	return Case{
		Name:   "window-index",
		Story:  "a new key each window, INCR and EXPIRE as two commands: what a lost EXPIRE leaves is never asked for again, and stays",
		Prefix: "edge_ip_1700000040_",
		Faults: []Fault{Zombie, Prolongs},
		New:    func(c redis.Cmdable, o Options) Limiter { return &windowIndex{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &windowIndex{c, o.with(loseAt(StepIncr))}, subject, 1)
		},
	}
}

// Allow implements [Limiter], in the window that began at 1700000040.
func (l *windowIndex) Allow(ctx context.Context, subject string) (bool, error) {
	key := windowIndexCase().Key(subject)
	count, err := l.client.Incr(ctx, key).Result()
	if err != nil {
		return false, err
	}
	if err := l.after(ctx, StepIncr, key); err != nil {
		return false, err
	}
	if err := l.client.Expire(ctx, key, l.Window).Err(); err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// expireThenWrite has the right commands in the wrong order: EXPIRE does nothing
// to a key that is not there yet, and answers so, which nobody reads. The second
// call repairs it, if one comes; a subject that calls once leaves its key for
// ever.
type expireThenWrite struct {
	client redis.Cmdable
	Options
}

func expireThenWriteCase() Case {
	return Case{
		Name:   "expire-then-write",
		Story:  "EXPIRE before the first write: it finds no key, and who calls only once leaves one without TTL",
		Prefix: "leaky:",
		Faults: []Fault{Zombie, Prolongs},
		New:    func(c redis.Cmdable, o Options) Limiter { return &expireThenWrite{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &expireThenWrite{c, o.with(nil)}, subject, 1)
		},
	}
}

const expireThenWriteScript = `
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('INCR', KEYS[1])`

// Allow implements [Limiter].
func (l *expireThenWrite) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{expireThenWriteCase().Key(subject)}
	count, err := l.client.Eval(ctx, expireThenWriteScript, keys, l.seconds()).Int64()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

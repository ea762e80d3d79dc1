package flawed

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// clientClock computes the end of the window by the clock of the machine it runs
// on. Where that is behind the server's by more than the window, the end is
// over when it arrives: SET with such an end deletes the key at once, and the
// INCR in the same script makes a new one, without TTL. Each call does so again:
// the count stays at 1 and nobody is ever refused.
type clientClock struct {
	client redis.Cmdable
	Options
}

func clientClockCase() Case {
	return Case{
		Name:   "client-clock",
		Story:  "an end of the window by the caller's own clock, which is behind: the key is deleted at once and INCR makes it again without TTL",
		Prefix: "skewed:",
		Faults: []Fault{Zombie, OverAdmits, ResetsEarly},
		New:    func(c redis.Cmdable, o Options) Limiter { return &clientClock{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &clientClock{c, o.with(nil)}, subject, 1)
		},
	}
}

const clientClockScript = `
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('SET', KEYS[1], 0)
  redis.call('PEXPIREAT', KEYS[1], ARGV[1])
end
return redis.call('INCR', KEYS[1])`

// Allow implements [Limiter]. The clock is behind by a window and an hour.
func (l *clientClock) Allow(ctx context.Context, subject string) (bool, error) {
	now := time.Now().Add(-l.Window - time.Hour)
	keys := []string{clientClockCase().Key(subject)}
	count, err := l.client.Eval(ctx, clientClockScript, keys, now.Add(l.Window).UnixMilli()).Int64()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

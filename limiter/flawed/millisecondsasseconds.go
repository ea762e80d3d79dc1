package flawed

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// millisecondsAsSeconds passes a window in milliseconds to EXPIRE, which takes
// seconds. A minute becomes 17 hours, a day almost three years; a timestamp in
// place of a duration becomes 54,000 years. Redis takes all of it.
type millisecondsAsSeconds struct {
	client redis.Cmdable
	Options
}

func millisecondsAsSecondsCase() Case {
	return Case{
		Name:   "milliseconds-as-seconds",
		Story:  "EXPIRE with milliseconds, which it takes for seconds: who has used up his limit waits a thousand windows",
		Prefix: "api_quota:",
		Faults: []Fault{TooLong},
		New:    func(c redis.Cmdable, o Options) Limiter { return &millisecondsAsSeconds{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			return call(ctx, &millisecondsAsSeconds{c, o.with(nil)}, subject, 1)
		},
	}
}

const millisecondsAsSecondsScript = `
local count = redis.call('INCR', KEYS[1])
if count == 1 or redis.call('TTL', KEYS[1]) == -1 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return count`

// Allow implements [Limiter].
func (l *millisecondsAsSeconds) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{millisecondsAsSecondsCase().Key(subject)}
	count, err := l.client.Eval(ctx, millisecondsAsSecondsScript, keys, l.Window.Milliseconds()).Int64()
	if err != nil {
		return false, err
	}
	return count <= l.Limit, nil
}

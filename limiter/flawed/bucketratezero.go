package flawed

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// bucketRateZero is a token bucket whose TTL is the time to fill it, twice.
// Its rate is the limit divided by the seconds of the window, in integers: 50
// a minute is a rate of 0, the time to fill is infinite, and EXPIRE refuses
// the argument. The hash that the script wrote before that stays: a script is
// not rolled back.
type bucketRateZero struct {
	client redis.Cmdable
	Options
}

const bucketScript = `
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(redis.call('TIME')[1])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or capacity
local at = tonumber(bucket[2]) or now
tokens = math.min(capacity, tokens + (now - at) * rate)
local allowed = 0
if tokens >= 1 then
  allowed, tokens = 1, tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('EXPIRE', KEYS[1], math.ceil(capacity / rate) * 2)
return allowed`

func bucketRateZeroCase() Case {
	return Case{
		Name:   "bucket-rate-zero",
		Story:  "a token bucket whose rate was rounded to 0: EXPIRE refuses an infinite TTL after the hash is written",
		Prefix: "bucket:",
		Faults: []Fault{Zombie, LocksOut, UnderAdmits},
		New:    func(c redis.Cmdable, o Options) Limiter { return &bucketRateZero{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			err := call(ctx, &bucketRateZero{c, o.with(nil)}, subject, 1)
			if err != nil && strings.Contains(err.Error(), "not an integer") {
				return nil // it is the fault
			}
			return err
		},
	}
}

// Allow implements [Limiter]. With fewer calls than seconds in a window its
// answer is the error of EXPIRE.
func (l *bucketRateZero) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{bucketRateZeroCase().Key(subject)}
	rate := l.Limit / l.seconds()
	return l.client.Eval(ctx, bucketScript, keys, l.Limit, rate).Bool()
}

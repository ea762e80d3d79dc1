package flawed

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// shortLivedBucket is a token bucket whose TTL is two seconds, plenty for a
// bucket that fills within one. One that takes a window to fill is forgotten
// after a pause of two seconds, and is full again.
type shortLivedBucket struct {
	client redis.Cmdable
	Options
}

func shortLivedBucketCase() Case {
	return Case{
		Name:   "short-lived-bucket",
		Story:  "a token bucket with a TTL of two seconds that takes a window to fill: after a pause it is full again",
		Prefix: "tokens:",
		Faults: []Fault{ResetsEarly},
		New:    func(c redis.Cmdable, o Options) Limiter { return &shortLivedBucket{c, o} },
		Break: func(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
			l := &shortLivedBucket{c, o.with(nil)}
			if err := call(ctx, l, subject, o.Limit); err != nil {
				return err
			}
			// The pause.
			if err := c.PExpireAt(ctx, shortLivedBucketCase().Key(subject), time.UnixMilli(1)).Err(); err != nil {
				return err
			}
			return call(ctx, l, subject, 1)
		},
	}
}

const shortLivedBucketScript = `
local capacity, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(redis.call('TIME')[1])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or capacity, tonumber(bucket[2]) or now
tokens = math.min(capacity, tokens + (now - at) * capacity / window)
local allowed = 0
if tokens >= 1 then
  allowed, tokens = 1, tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('EXPIRE', KEYS[1], 2)
return allowed`

// Allow implements [Limiter].
func (l *shortLivedBucket) Allow(ctx context.Context, subject string) (bool, error) {
	keys := []string{shortLivedBucketCase().Key(subject)}
	return l.client.Eval(ctx, shortLivedBucketScript, keys, l.Limit, l.seconds()).Bool()
}

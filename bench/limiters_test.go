// This file owns the limiters that are compared, each behind one function.

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	ulule "github.com/ulule/limiter/v3"
	redisstore "github.com/ulule/limiter/v3/drivers/store/redis"

	"keyhealth/limiter"
)

// Windows and bursts are so large that no call is refused, for to refuse is
// cheaper for some. A bucket fills so slowly that it is not full again at each
// call: it would have no key to read.
const (
	burst     = 10_000_000
	perSecond = 1
)

// contender is a limiter on the bench.
type contender struct {
	name   string
	counts string // what it does with a key, for who compares
	ours   bool
	prefix string // of its keys
	allow  func(ctx context.Context, subject string) (bool, error)
	// direct are the commands of a decision that are sent beside scripts: what
	// INFO says of them includes what scripts called.
	direct []string
}

func contenders(t testing.TB, c *redis.Client) []contender {
	t.Helper()
	ours := func(name, counts string, p limiter.Policy) contender {
		prefix := "ours-" + name
		l, err := limiter.New(c, limiter.Options{Down: limiter.FailClosed, Prefix: prefix}, p)
		must(t, err)
		return contender{name: "keyhealth, " + name, counts: counts, ours: true, prefix: prefix, allow: func(ctx context.Context, subject string) (bool, error) {
			result, err := l.Allow(ctx, subject)
			if result.Degraded {
				return false, fmt.Errorf("%s: Redis gave no answer", name)
			}
			return result.Allowed, err
		}}
	}
	return []contender{
		ours("fixed window", "GET, PTTL, INCRBY", limiter.FixedWindow{Limit: burst, Window: time.Minute}),
		ours("sliding window", "PTTL, GET, TIME, SET of eleven counts", limiter.SlidingWindow{Limit: burst, Window: time.Minute}),
		ours("token bucket", "GET, PTTL, TIME, SET", limiter.TokenBucket{Capacity: burst, Refill: perSecond, Every: time.Second}),
		redisRate(c),
		throttledStore(t, c),
		ululeStore(t, c),
	}
}

func redisRate(c *redis.Client) contender {
	l := redis_rate.NewLimiter(c)
	limit := redis_rate.Limit{Rate: perSecond, Period: time.Second, Burst: burst}
	return contender{name: "go-redis/redis_rate v10", counts: "GCRA: TIME, GET, SET", prefix: "rate", allow: func(ctx context.Context, subject string) (bool, error) {
		result, err := l.Allow(ctx, subject, limit)
		return err == nil && result.Allowed > 0, err
	}}
}

func throttledStore(t testing.TB, c *redis.Client) contender {
	store, err := goredisstore.NewCtx(c, "throttled:")
	must(t, err)
	quota := throttled.RateQuota{MaxRate: throttled.PerSec(perSecond), MaxBurst: burst - 1}
	l, err := throttled.NewGCRARateLimiterCtx(store, quota)
	must(t, err)
	return contender{name: "throttled v2, goredis store", counts: "GCRA: TIME and GET, then a script that compares and sets", prefix: "throttled", direct: []string{"get", "time"}, allow: func(ctx context.Context, subject string) (bool, error) {
		limited, _, err := l.RateLimitCtx(ctx, subject, 1)
		return !limited, err
	}}
}

func ululeStore(t testing.TB, c *redis.Client) contender {
	store, err := redisstore.NewStoreWithOptions(c, ulule.StoreOptions{Prefix: "ulule"})
	must(t, err)
	l := ulule.New(store, ulule.Rate{Limit: burst, Period: time.Minute})
	return contender{name: "ulule/limiter v3", counts: "fixed window: INCRBY, PTTL", prefix: "ulule", allow: func(ctx context.Context, subject string) (bool, error) {
		result, err := l.Get(ctx, subject)
		return !result.Reached, err
	}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// This file owns the method: the median of some rounds, in each of which the
// limiters take turns of a few milliseconds, so that what else the machine does
// falls on all of them.

package bench

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

var (
	each   = flag.Duration("each", 20*time.Millisecond, "how long each limiter is measured in a round")
	rounds = flag.Int("rounds", 1, "how often")
)

var callers = []int{1, 16, 64}

const subjects = 960 // a multiple of all numbers of callers

// figures are those of a limiter, one of each round.
type figures struct {
	perSecond          map[int][]float64 // by callers
	server, allocs     []float64
	bytes, value, trip float64
}

func TestTable(t *testing.T) {
	server := redistest.Start(t)
	c := server.Client(t, func(o *redis.Options) { o.PoolSize = slices.Max(callers) })
	all := contenders(t, c)
	table := make([]figures, len(all))
	for i, l := range all {
		table[i] = figures{perSecond: map[int][]float64{}}
		run(t, l, 1, *each/10) // scripts, connections
		table[i].bytes = keyBytes(t, c, l)
		table[i].trip = roundTrips(t, server, l.name)
	}
	for range *rounds {
		for _, n := range callers {
			round(t, c, all, table, n)
		}
	}
	print(t, all, table)
}

// turns is how many a limiter has in a round. Who is first changes from one to
// the next: what one leaves to be cleared up falls on another each time.
const turns = 20

// round is one measurement of every limiter with n callers.
func round(t *testing.T, c *redis.Client, all []contender, table []figures, n int) {
	t.Helper()
	sum := make([]struct{ decisions, seconds, allocs, server float64 }, len(all))
	for turn := range turns {
		for place := range all {
			i := (turn + place) % len(all)
			l := all[i]
			must(t, c.ConfigResetStat(t.Context()).Err())
			decisions, seconds, allocs := run(t, l, n, *each/turns)
			s := &sum[i]
			s.decisions, s.seconds, s.allocs = s.decisions+decisions, s.seconds+seconds, s.allocs+allocs/turns
			s.server += serverMicroseconds(t, c, l)
		}
	}
	for i, s := range sum {
		f := &table[i]
		f.perSecond[n] = append(f.perSecond[n], s.decisions/s.seconds)
		if n == 1 {
			f.allocs = append(f.allocs, s.allocs)
			f.server = append(f.server, s.server/s.decisions)
		}
	}
}

// run lets n callers decide for a while, and fails if one is refused.
func run(t *testing.T, l contender, n int, while time.Duration) (decisions, seconds, allocs float64) {
	t.Helper()
	var count atomic.Int64
	var done sync.WaitGroup
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for caller := range n {
		done.Go(func() {
			for i := 0; time.Since(start) < while; i++ {
				allowed, err := l.allow(context.Background(), subject(i*n+caller))
				if err != nil || !allowed {
					t.Errorf("%s: %v, %v", l.name, allowed, err)
					return
				}
				count.Add(1)
			}
		})
	}
	done.Wait()
	seconds = time.Since(start).Seconds()
	runtime.ReadMemStats(&after)
	decisions = float64(count.Load())
	// The name of the subject is not the limiter's.
	return decisions, seconds, float64(after.Mallocs-before.Mallocs)/decisions - 1
}

// subject is one of a thousand, and not one of another caller's at that moment:
// limiters that try again when two callers meet would stand worse.
func subject(i int) string { return fmt.Sprintf("user:%06d", i%subjects) }

// serverMicroseconds is the time that the server spent in the limiter's
// commands since its statistics were reset.
func serverMicroseconds(t *testing.T, c *redis.Client, l contender) (sum float64) {
	t.Helper()
	info, err := c.Info(t.Context(), "commandstats").Result()
	must(t, err)
	decisions := 0.0
	for line := range strings.Lines(info) {
		name, fields, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		var calls, usec, perCall float64
		if n, _ := fmt.Sscanf(fields, "calls=%f,usec=%f,usec_per_call=%f", &calls, &usec, &perCall); n != 3 {
			continue
		}
		if name == "evalsha" || name == "eval" {
			sum += usec
			decisions += calls
		}
	}
	for line := range strings.Lines(info) {
		name, fields, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		var calls, usec, perCall float64
		if _, err := fmt.Sscanf(fields, "calls=%f,usec=%f,usec_per_call=%f", &calls, &usec, &perCall); err == nil && slices.Contains(l.direct, name) {
			sum += decisions * perCall
		}
	}
	return sum
}

// keyBytes is the mean memory of the limiter's keys.
func keyBytes(t *testing.T, c *redis.Client, l contender) float64 {
	t.Helper()
	for i := range subjects {
		_, err := l.allow(t.Context(), subject(i))
		must(t, err)
	}
	keys, err := c.Keys(t.Context(), l.prefix+"*").Result()
	must(t, err)
	if len(keys) == 0 {
		t.Fatalf("%s has no keys %s*", l.name, l.prefix)
	}
	sum := int64(0)
	for _, key := range keys {
		n, err := c.MemoryUsage(t.Context(), key).Result()
		must(t, err)
		sum += n - int64(len(key))
	}
	return float64(sum) / float64(len(keys))
}

// roundTrips is how often the limiter waits for the server in a decision.
func roundTrips(t *testing.T, s *redistest.Server, name string) float64 {
	t.Helper()
	c := s.Client(t)
	var trips atomic.Int64
	c.AddHook(counter{&trips})
	for _, l := range contenders(t, c) {
		if l.name != name {
			continue
		}
		for range 2 {
			trips.Store(0)
			for range 100 {
				_, err := l.allow(t.Context(), "trips")
				must(t, err)
			}
		}
	}
	return float64(trips.Load()) / 100
}

type counter struct{ n *atomic.Int64 }

func (counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

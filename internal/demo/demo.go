// What the demo runs: a server, time, and callers. Everything is bounded: the
// keyspace stops growing at some thousand keys.

package demo

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
	"keyhealth/limiter"
	"keyhealth/limiter/flawed"
)

// Rules are the groups of the demo, as a file for CONFIG_FILE.
//
//go:embed rules.yaml
var Rules string

// Groups are the groups of Rules.
func Groups() ([]classify.Rule, error) {
	var file struct{ Groups []classify.Rule }
	err := yaml.Unmarshal([]byte(Rules), &file)
	return file.Groups, err
}

// Demo is a Redis in memory with limiters at work on it.
type Demo struct {
	server    *memoryServer
	client    *redis.Client
	reference *limiter.Limiter
	broken    []*brokenLimiter
	rng       *rand.Rand
	log       *slog.Logger
	lockedOut atomic.Int64 // callers that were refused because of a key without TTL
}

// brokenLimiter is a flawed limiter and how far it has got.
type brokenLimiter struct {
	flawed.Case
	options flawed.Options
	limiter flawed.Limiter
	broken  atomic.Int64 // callers whose key was left behind, the first ones
	refused map[int]bool // those of them that were refused since
}

const (
	callers     = 100 // of each limiter
	limit       = 5   // calls a window
	mostBroken  = 25  // callers a limiter locks out in the end
	tick        = 100 * time.Millisecond
	callsATick  = 1 // of each limiter
	breakEach   = 15 * tick
	reportEach  = 5 * time.Second
	historyEach = time.Hour
)

// brokenCases are the flawed limiters that are shown, by name.
var brokenCases = map[string]time.Duration{ // and their windows
	"check-then-incr":  time.Minute,
	"exists-then-incr": time.Hour,
	"incr-then-expire": time.Minute,
	"refund":           time.Minute,
	"profile":          time.Minute,
}

// Start starts the server with a keyspace that has a history: some callers were
// locked out before anybody watched.
func Start(ctx context.Context, log *slog.Logger) (*Demo, error) {
	server, err := newMemoryServer()
	if err != nil {
		return nil, err
	}
	d := &Demo{server: server, log: log, rng: rand.New(rand.NewPCG(rand.Uint64(), 0))}
	d.client = redis.NewClient(&redis.Options{
		Addr:                     server.Addr(),
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := d.prepare(ctx); err != nil {
		d.Close()
		return nil, fmt.Errorf("the demo: %w", err)
	}
	return d, nil
}

func (d *Demo) prepare(ctx context.Context) (err error) {
	d.reference, err = limiter.New(d.client, limiter.Options{Prefix: "reference", Down: limiter.FailClosed},
		limiter.FixedWindow{Limit: limit, Window: time.Minute})
	if err != nil {
		return err
	}
	for _, c := range flawed.All() {
		window, shown := brokenCases[c.Name]
		if !shown {
			continue
		}
		options := flawed.Options{Limit: limit, Window: window}
		d.broken = append(d.broken, &brokenLimiter{Case: c, options: options, limiter: c.New(d.client, options), refused: map[int]bool{}})
	}
	if err := d.callOnce(ctx); err != nil {
		return err
	}
	for range 3 {
		if err := d.breakOne(ctx); err != nil {
			return err
		}
	}
	return d.fill(ctx)
}

// Endpoint is where the server is.
func (d *Demo) Endpoint() spec.Endpoint {
	return spec.Endpoint{Network: "tcp", Address: d.server.Addr(), Timeout: 3 * time.Second}
}

// Close ends the server.
func (d *Demo) Close() {
	_ = d.client.Close()
	d.server.Close()
}

// Ready implements the interface of what serve runs: there is nothing to wait for.
func (d *Demo) Ready() bool { return true }

// Run lets time pass and callers call until ctx ends.
func (d *Demo) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return every(ctx, tick, func(passed time.Duration) error { d.server.pass(passed); return nil })
	})
	group.Go(func() error { return every(ctx, tick, func(time.Duration) error { return d.callAll(ctx) }) })
	group.Go(func() error { return every(ctx, breakEach, func(time.Duration) error { return d.breakOne(ctx) }) })
	group.Go(func() error { return every(ctx, time.Second, func(time.Duration) error { return d.weigh(ctx) }) })
	group.Go(func() error { return every(ctx, reportEach, d.reporter()) })
	return group.Wait()
}

// every calls f again and again with the time since the last call, until ctx
// ends, which is no error.
func every(ctx context.Context, interval time.Duration, f func(passed time.Duration) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			if err := f(now.Sub(last)); err != nil && ctx.Err() == nil {
				return fmt.Errorf("the demo: %w", err)
			}
			last = now
		}
	}
}

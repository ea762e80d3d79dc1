// What a sweep does to a master that has 20,000 keys expire a second: SCAN
// deletes the expired keys it meets, which makes the expiry cycle of some servers
// believe that there are few. A measurement of minutes, for make stats only.

package collector

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

const (
	expiriesASecond = 20_000
	livesFor        = 45 * time.Second // 0.9 million keys are alive
	settlesIn       = 50 * time.Second
	watchedWithout  = 60 * time.Second
	watchedWith     = 180 * time.Second
)

// churn writes keys at a steady rate and knows how many of them are alive.
type churn struct {
	write   func(ctx context.Context, from, to int) error
	size    func(ctx context.Context) (int64, error)
	began   time.Time
	written []atomic.Int64 // by tick since began
}

const tick = 20 * time.Millisecond

func (c *churn) run(ctx context.Context) error {
	written, schedule := 0, time.NewTicker(tick)
	defer schedule.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-schedule.C:
		}
		at := int(time.Since(c.began) / tick)
		due := (at + 1) * expiriesASecond * int(tick/time.Millisecond) / 1000
		to := min(due, written+2000)
		c.written[at].Add(int64(to - written))
		if err := c.write(ctx, written, to); err != nil && ctx.Err() == nil {
			return err
		}
		written = to
	}
}

// alive is how many of the written keys have not expired.
func (c *churn) alive() float64 {
	now, n := int(time.Since(c.began)/tick), int64(0)
	for at := max(0, now-int(livesFor/tick)); at <= now; at++ {
		n += c.written[at].Load()
	}
	return float64(n)
}

// garbage is what INFO counts beyond the living keys, as a share.
type garbage struct {
	n, sum          float64
	low, high, last float64
}

func (g *garbage) add(share float64) { g.n, g.sum = g.n+1, g.sum+share }

func (g *garbage) mean() float64 { return g.sum / g.n }

func (g *garbage) String() string {
	return fmt.Sprintf("%.0f (%.0f to %.0f, %.0f at the end)", 100*g.mean(), 100*g.low, 100*g.high, 100*g.last)
}

// watch looks once a second for a while.
func (c *churn) watch(t *testing.T, d time.Duration) *garbage {
	t.Helper()
	g := &garbage{low: 1}
	for end := time.Now().Add(d); time.Now().Before(end); {
		keys, err := c.size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		share := math.Max(0, 1-c.alive()/float64(keys))
		g.add(share)
		g.low, g.high, g.last = min(g.low, share), max(g.high, share), share
		if err := sleep(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestStatsExpiry(t *testing.T) {
	if os.Getenv("TEST_KEYHEALTH_STATS") == "" {
		return
	}
	redistest.Run(t, "on", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		client := server.Client(t)
		ctx, cancel := context.WithCancel(t.Context())
		churning := &churn{
			write: func(ctx context.Context, from, to int) error {
				pipe := client.Pipeline()
				for i := from; i < to; i++ {
					pipe.Set(ctx, fmt.Sprintf("limit:%d", i), 1, livesFor)
				}
				_, err := pipe.Exec(ctx)
				return err
			},
			size:    func(ctx context.Context) (int64, error) { return client.DBSize(ctx).Result() },
			began:   time.Now(),
			written: make([]atomic.Int64, int(time.Hour/tick)),
		}
		ended := make(chan error, 1)
		go func() { ended <- churning.run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		churning.watch(t, livesFor+settlesIn)
		without := churning.watch(t, watchedWithout)

		target := targetOf(t, "limit=limit:*@60s")
		target.Endpoint = spec.Endpoint{Network: "tcp", Address: server.Addr(), Timeout: time.Minute}
		w := NewWatcher(target, silentLog())
		swept := make(chan error, 1)
		go func() { swept <- w.Run(ctx) }()
		with := churning.watch(t, watchedWith)
		said := "unknown"
		if share, known := w.Snapshot().Nodes[0].Unreclaimed[0]; known {
			said = fmt.Sprintf("%.0f", 100*share)
		}
		health := w.Snapshot().Health
		cancel()
		<-swept
		t.Logf("%s: %.2f million alive; expired garbage, %%: without keyhealth %s, with %d sweeps of %d keys in %.0f s %s; keyhealth says %s", name(server.Binary(), server.Version(t)),
			churning.alive()/1e6, without, health.Sweeps, health.Examined, health.Duration.Seconds(), with, said)
		if with.mean() > without.mean()+0.1 || with.last > without.high+0.1 {
			t.Errorf("sweeps have moved the expired garbage from %s %% to %s %%", without, with)
		}
	})
}

// name is a server's, for a table.
func name(binary, version string) string {
	if strings.Contains(binary, "valkey") {
		return "Valkey " + version
	}
	return "Redis " + version
}

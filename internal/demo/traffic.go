// Who calls: the keys that were there before, the callers of each limiter, and
// the moments that break the broken ones.

package demo

import (
	"context"
	"fmt"
	"time"
)

// fill writes what healthy applications keep: sessions named after a time,
// flags that are meant to stay; and what a limiter that takes milliseconds for
// seconds wrote, and one whose keys are named after their window.
func (d *Demo) fill(ctx context.Context) error {
	pipe := d.client.Pipeline()
	now := time.Now()
	for i := range 400 {
		pipe.Set(ctx, fmt.Sprintf("session:%d:%d", 1000+i, now.Unix()), "x", 20*time.Minute)
	}
	for i := range 40 {
		pipe.Set(ctx, fmt.Sprintf("flags:feature%d", i), "on", 0)
	}
	for i := range 30 {
		pipe.Set(ctx, fmt.Sprintf("gateway:10.0.0.%d", i), 3, 60_000*time.Second)
	}
	for i := range 12 { // EXPIRE was lost, and nothing ever asks for this window again
		pipe.Set(ctx, fmt.Sprintf("login_limit:export:%d", now.Add(-time.Duration(i+1)*historyEach).Unix()), 3, 0)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// caller is the name of the nth caller.
func caller(n int) string { return fmt.Sprintf("caller%d", n) }

// callOnce makes those callers known that nothing ever happens to, so that the
// first look sees healthy keys.
func (d *Demo) callOnce(ctx context.Context) error {
	for n := mostBroken; n < callers; n++ {
		if _, err := d.reference.Allow(ctx, caller(n)); err != nil {
			return err
		}
		for _, b := range d.broken {
			_, _ = b.limiter.Allow(ctx, caller(n))
		}
	}
	return nil
}

// callAll makes some calls to each limiter. Errors of a broken limiter are its
// callers' trouble.
func (d *Demo) callAll(ctx context.Context) error {
	for range callsATick {
		if _, err := d.reference.Allow(ctx, caller(d.rng.IntN(callers))); err != nil {
			return err
		}
		for _, b := range d.broken {
			n := d.rng.IntN(callers)
			allowed, err := b.limiter.Allow(ctx, caller(n))
			if err == nil && !allowed && int64(n) < b.broken.Load() && !b.refused[n] {
				b.refused[n] = true
				d.lockedOut.Add(1)
			}
		}
	}
	return ctx.Err()
}

// breakOne brings about the moment that leaves a key behind for one more caller
// of each broken limiter.
func (d *Demo) breakOne(ctx context.Context) error {
	for _, b := range d.broken {
		next := b.broken.Load()
		if next == mostBroken {
			continue
		}
		if err := b.Break(ctx, d.client, b.options, caller(int(next))); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		b.broken.Add(1)
	}
	return nil
}

// reporter says how many callers are locked out whenever that has changed.
func (d *Demo) reporter() func(time.Duration) error {
	last := int64(0)
	return func(time.Duration) error {
		if n := d.lockedOut.Load(); n != last {
			d.log.Warn("Callers of the demo are locked out until somebody deletes their keys", "callers", n)
			last = n
		}
		return nil
	}
}

// weigh sums up the memory of the keys, for INFO.
func (d *Demo) weigh(ctx context.Context) error {
	pipe := d.client.Pipeline()
	for _, key := range d.server.Keys() {
		pipe.MemoryUsage(ctx, key)
	}
	commands, _ := pipe.Exec(ctx) // a key may be gone by now
	var sum int64
	for _, command := range commands {
		if usage, ok := command.(interface{ Val() int64 }); ok {
			sum += usage.Val()
		}
	}
	d.server.used.Store(sum)
	return ctx.Err()
}

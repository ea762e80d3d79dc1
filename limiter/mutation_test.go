// This file owns the test of the mutations: that the property or the check of
// arguments sees each.

package limiter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// in makes the change in every script of a limiter that has the place.
func (m mutation) in(l *Limiter) {
	for _, s := range []*script{&l.scripts.take, &l.scripts.peek, &l.scripts.reserve, &l.scripts.settle} {
		*s = newScript(strings.ReplaceAll(s.source, m.from, m.to))
	}
}

func TestMutations(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutations {
		places := 0
		for _, source := range []string{windowSource, fixedWindowSource, slidingWindowSource, tokenBucketSource, decideSource, settleSource} {
			places += strings.Count(source, m.from)
		}
		if places != 1 || names[m.name] {
			t.Errorf("%s: its place is found %d times, or its name is used twice", m.name, places)
		}
		names[m.name] = true
	}
	if t.Failed() {
		return
	}
	next := make(chan mutation)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for m := range next {
				if err := caught(t, m); err == nil {
					t.Errorf("%s: nothing sees it", m.name)
				}
			}
		})
	}
	for _, m := range mutations {
		next <- m
	}
	close(next)
	workers.Wait()
	// The same checks find nothing where nothing is changed.
	if err := caught(t, mutation{"none", "no such text", ""}); err != nil {
		t.Error(err)
	}
}

// caught returns what is seen of a mutation.
func caught(t *testing.T, m mutation) error {
	w := miniWorld(t)
	for seed := range uint64(30 * len(policySets)) {
		l, err := New(w.client, Options{Down: FailClosed}, policySets[seed%uint64(len(policySets))]...)
		if err != nil {
			return err
		}
		before := l.scripts
		if m.in(l); m.name != "none" && l.scripts == before {
			continue
		}
		if err := newRun(w, seed, map[string]int{}, m.in).steps(t.Context(), 100); err != nil {
			return err
		}
		if n := uint64(len(policySets)); seed >= n && seed < 2*n {
			if err := cmp.Or(checkCommitments(t.Context(), l), checkArguments(t.Context(), l)); err != nil {
				return err
			}
		}
		if m.name == "none" && seed > 30 {
			return nil
		}
	}
	return nil
}

// checkArguments sends what Go would never send: it is refused before any
// write.
func checkArguments(ctx context.Context, l *Limiter) error {
	keys, _ := l.Keys("arguments")
	for _, value := range []string{"", "1", "0 0", "3000000 9007199254740992"} {
		for _, bad := range []string{"0", "-1", "0.5", "1.5", "nan", "inf", "-inf", "9007199254740994", "x", ""} {
			for at := range 1 + len(l.args) {
				decide := l.scripts.take
				if at > 0 {
					decide = l.scripts.peek // of the windows the short way asks only what it needs
				}
				args := l.arguments(int64(1))
				args[at] = bad
				if err := refuses(ctx, l, decide, keys, value, args); err != nil {
					return fmt.Errorf("argument %d is %q: %w", at+1, bad, err)
				}
			}
		}
		for _, pair := range [][2]any{{1, 2}, {0, 0}, {1, -1}, {1.5, 1}, {2, 0.5}} {
			args := append(l.arguments(pair[0], pair[1]), slices.Repeat([]any{0}, len(keys))...)
			if err := refuses(ctx, l, l.scripts.settle, keys, value, args); err != nil {
				return fmt.Errorf("settle %v: %w", pair, err)
			}
		}
	}
	return nil
}

// checkCommitments charges the limit again and again, as after reservations that
// Redis did not answer: the TTL has a bound all the same.
func checkCommitments(ctx context.Context, l *Limiter) error {
	keys, _ := l.Keys("commitments")
	for range 4 {
		args := append(l.arguments(l.least, l.least), slices.Repeat([]any{0}, len(keys))...)
		if _, err := l.scripts.settle.run(ctx, l.client, keys, args); err != nil {
			return err
		}
		for i, key := range keys {
			if ttl, err := l.client.(*redis.Client).PTTL(ctx, key).Result(); err != nil || ttl <= 0 || ttl > l.windows[i].ttl {
				return fmt.Errorf("the TTL of %s is %v, %w", key, ttl, err)
			}
		}
	}
	return nil
}

// refuses wants an error, and the keys as they were.
func refuses(ctx context.Context, l *Limiter, s script, keys []string, value string, args []any) error {
	c := l.client.(*redis.Client)
	for _, key := range keys {
		c.Del(ctx, key)
		if value != "" {
			c.Do(ctx, "SET", key, value, "PX", 1)
		}
	}
	_, err := s.run(ctx, c, keys, args)
	if err == nil {
		return errors.New("it is not refused")
	}
	for _, key := range keys {
		if got := c.Do(ctx, "GET", key).Val(); got != value && (got != nil || value != "") {
			return fmt.Errorf("the key is %v, was %q", got, value)
		}
	}
	return nil
}

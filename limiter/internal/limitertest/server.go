// This file owns the server of a test: its client, and the passing of time on
// it, which is forced and never waited for.

package limitertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/limiter/flawed"
)

// Server is a Redis of a test.
type Server struct {
	Client *redis.Client
	// FastForward lets time pass on a miniredis, for all keys. It is nil on a
	// real server, where the TTL of one key is cut short instead.
	FastForward func(time.Duration)
}

// Patient makes a client wait for a slow machine, and send each command once: a
// second try after a timeout would be counted twice.
func Patient(o *redis.Options) {
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = time.Minute, time.Minute, time.Minute, time.Minute
	o.MaxRetries = -1
}

// Expire lets the TTL of a key run out. A key without TTL stays, and so does
// none.
func (s *Server) Expire(ctx context.Context, key string) error {
	ttl, err := s.Client.PTTL(ctx, key).Result()
	if err != nil || ttl < 0 {
		return err
	}
	if s.FastForward != nil {
		s.FastForward(ttl)
		return nil
	}
	return s.Client.PExpireAt(ctx, key, time.UnixMilli(1)).Err()
}

// ExpireAt is a hook that lets the key run out after the step.
func (s *Server) ExpireAt(step string) flawed.Hook {
	return func(ctx context.Context, at flawed.Step) error {
		if at.Name != step {
			return nil
		}
		return s.Expire(ctx, at.Key)
	}
}

// Nearly cuts the TTL of a key to left and calls f, which must have returned
// before that has passed. A machine may stand still at any time: only the
// server's own clock, read afterwards, tells whether f was in time. If it was
// not, prepare and f are called again, up to a hundred times.
func (s *Server) Nearly(t testing.TB, key string, left time.Duration, prepare, f func()) {
	t.Helper()
	ctx := t.Context()
	for range 100 {
		prepare()
		before := s.now(t)
		if err := s.Client.PExpire(ctx, key, left).Err(); err != nil {
			t.Fatalf("cut the TTL: %v", err)
		}
		f()
		if s.FastForward != nil || s.now(t).Sub(before) < left {
			return
		}
	}
	t.Fatalf("in a hundred attempts none took less than %v", left)
}

func (s *Server) now(t testing.TB) time.Time {
	t.Helper()
	now, err := s.Client.Time(t.Context()).Result()
	if err != nil {
		t.Fatalf("read the server's clock: %v", err)
	}
	return now
}

// Key is what a test asks about a key.
type Key struct {
	Type  string // none, string, hash, ...
	Value string // of a string; a hash as HGETALL prints it
	// TTL is in whole milliseconds; NoTTL and Gone stand for themselves.
	TTL time.Duration
}

// The answers of PTTL that are no durations, as go-redis gives them.
const (
	NoTTL time.Duration = -1
	Gone  time.Duration = -2
)

// Unchanged says whether the key is as it was before, but for time that has
// passed.
func (k Key) Unchanged(before Key) bool {
	if k.TTL > 0 && k.TTL <= before.TTL {
		k.TTL = before.TTL
	}
	return k == before
}

// Look reads a key.
func (s *Server) Look(t testing.TB, key string) Key {
	t.Helper()
	k, err := s.look(t.Context(), key)
	if err != nil {
		t.Fatalf("look at %s: %v", key, err)
	}
	return k
}

func (s *Server) look(ctx context.Context, key string) (k Key, err error) {
	if k.Type, err = s.Client.Type(ctx, key).Result(); err != nil {
		return k, err
	}
	if k.TTL, err = s.Client.PTTL(ctx, key).Result(); err != nil {
		return k, err
	}
	switch k.Type {
	case "string":
		k.Value, err = s.Client.Get(ctx, key).Result()
	case "hash":
		var fields map[string]string
		fields, err = s.Client.HGetAll(ctx, key).Result()
		k.Value = fmt.Sprint(fields)
	}
	return k, err
}

// This file owns the servers of the property test, whose time stands still
// until a step moves it: a miniredis, and a real one under a clock that is a
// file.

package limiter

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
	"keyhealth/limiter/internal/limitertest"
)

// world is a server whose clock the test holds.
type world struct {
	client *redis.Client
	now    int64 // microseconds
	// set moves the server's clock, and with it what is left of the TTLs.
	set func(from, to int64) error
	// lastMoment leaves a key with less than a ms, where a server can hold one
	// like that: its PTTL is 0.
	lastMoment func(key string)
}

func (w *world) step(d time.Duration) error {
	to := w.now + d.Microseconds()
	err := w.set(w.now, to)
	w.now = to
	return err
}

// look reads a key, in the words of the model.
func (w *world) look(ctx context.Context, key string) (modelKey, error) {
	kind, err := w.client.Type(ctx, key).Result()
	if err != nil || kind == "none" {
		return noKey, err
	}
	k := modelKey{kind: kind}
	if kind == "string" {
		if k.value, err = w.client.Get(ctx, key).Result(); err != nil {
			return k, err
		}
	}
	ttl, err := w.client.PTTL(ctx, key).Result()
	switch {
	case err != nil:
		return k, err
	case ttl == limitertest.Gone || ttl == 0: // its last moment
		return noKey, nil
	case ttl > 0:
		k.when = w.now/1000 + ttl.Milliseconds()
	}
	return k, nil
}

// worldStart is any moment, in whole ms: miniredis counts TTLs finer.
const worldStart = 1893456000_123_000

func miniWorld(t testing.TB) *world {
	m := miniredis.RunT(t)
	m.SetTime(time.UnixMicro(worldStart))
	lastMoment := func(key string) { m.SetTTL(key, 300*time.Microsecond) }
	return &world{client: patientClient(t, m.Addr()), now: worldStart, lastMoment: lastMoment, set: func(from, to int64) error {
		m.SetTime(time.UnixMicro(to))
		if to >= from {
			m.FastForward(time.Duration(to-from) * time.Microsecond)
			return nil
		}
		// On a server whose clock is set back all keys live longer.
		for _, key := range m.Keys() {
			if ttl := m.TTL(key); ttl > 0 && ttl < time.Millisecond {
				m.Del(key)
			} else if ttl > 0 {
				m.SetTTL(key, ttl+time.Duration(from-to)*time.Microsecond)
			}
		}
		return nil
	}}
}

// realWorld starts a server under a clock that is a file of the test.
// (libfaketime would do, but ends a redis-server that has jemalloc.)
func realWorld(t testing.TB, binary string) *world {
	t.Helper()
	redistest.Require(t, "gcc")
	dir := t.TempDir()
	library, clock, script := filepath.Join(dir, "clock.so"), filepath.Join(dir, "clock"), filepath.Join(dir, "server")
	compile := exec.Command("gcc", "-O1", "-shared", "-fPIC", "-o", library, "testdata/clock.c")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write := func(us int64) error {
		return os.WriteFile(clock, binary64(us), 0o600)
	}
	text := fmt.Sprintf("#!/bin/sh\nLD_PRELOAD=%q CLOCK_FILE=%q exec %q \"$@\"\n", library, clock, binary)
	if err := write(worldStart); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	s := redistest.StartBinary(t, script)
	f, err := os.OpenFile(clock, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &world{client: s.Client(t, limitertest.Patient), now: worldStart, set: func(_, to int64) error {
		_, err := f.WriteAt(binary64(to), 0)
		return err
	}}
}

func binary64(n int64) []byte { return binary.NativeEndian.AppendUint64(nil, uint64(n)) }

func patientClient(t testing.TB, addr string) *redis.Client {
	o := &redis.Options{Addr: addr}
	limitertest.Patient(o)
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

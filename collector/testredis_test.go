// A real Redis to tell a story to, and what a sweep then finds in it.

package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/collector/classify"
	"keyhealth/collector/estimate"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// command is one Redis command; one that begins with ! must be refused.
type command []string

// testRedis is a real server with the one connection that a story is told over.
type testRedis struct {
	t      testing.TB
	server *redistest.Server
	conn   *redis.Conn // SELECT lasts
}

func startTestRedis(t testing.TB) *testRedis {
	t.Helper()
	server := redistest.Start(t, "--databases", "128")
	conn := server.Client(t).Conn()
	t.Cleanup(func() { _ = conn.Close() })
	return &testRedis{t, server, conn}
}

// run sends one command; an answer of nothing is none the worse.
func (r *testRedis) run(words ...any) error {
	if err := r.conn.Do(context.Background(), words...).Err(); !errors.Is(err, redis.Nil) {
		return err
	}
	return nil
}

// play runs commands in one database, and answers how many keys they made.
func (r *testRedis) play(db int, commands []command) (keys int64) {
	r.t.Helper()
	if err := r.run("SELECT", db); err != nil {
		r.t.Fatal(err)
	}
	before := r.size()
	for _, c := range commands {
		words := make([]any, len(c))
		for i, word := range c {
			words[i] = word
		}
		name, refused := strings.CutPrefix(c[0], "!")
		words[0] = name
		if err := r.run(words...); (err != nil) != refused {
			r.t.Fatalf("database %d: %q: %v, refused should be %v", db, c, err, refused)
		}
	}
	return r.size() - before
}

// size is the number of keys in the selected database.
func (r *testRedis) size() int64 {
	r.t.Helper()
	size, err := r.conn.DBSize(context.Background()).Result()
	if err != nil {
		r.t.Fatal(err)
	}
	return size
}

// sweep is what the first sweep with the given groups finds.
func (r *testRedis) sweep(rules []classify.Rule, presets []classify.Preset) *Snapshot {
	r.t.Helper()
	return r.watch(rules, presets).Snapshot()
}

// watch is a watcher after its first sweep.
func (r *testRedis) watch(rules []classify.Rule, presets []classify.Preset) *Watcher {
	r.t.Helper()
	target := spec.Target{
		Name:      "test",
		Endpoint:  spec.Endpoint{Network: "tcp", Address: r.server.Addr(), Timeout: 10 * time.Second},
		Rules:     rules,
		Presets:   presets,
		MaxGroups: 10_000,
		Sweep:     spec.DefaultSweep(),
	}
	target.Sweep.Duty = 1
	ctx, stop := context.WithTimeout(r.t.Context(), time.Minute)
	watcher := NewWatcher(target, slog.New(slog.DiscardHandler))
	done := make(chan error, 1)
	go func() { done <- watcher.Run(ctx) }()
	for !watcher.Ready() && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	<-done
	if health := watcher.Snapshot().Health; !health.Swept {
		r.t.Fatalf("the sweep failed: %v", health.Failures)
	}
	return watcher
}

// health sums up a group as a line, with what is 0 left out.
func health(g *estimate.Group) string {
	line := fmt.Sprintf("%s: %v keys", g.Name, g.Keys)
	add := func(n float64, what string) {
		if n != 0 {
			line += fmt.Sprintf(", %v %s", n, what)
		}
	}
	add(g.WithoutTTL, "without TTL")
	add(g.Excessive, "excessive")
	if g.Zombies != nil {
		add(g.Zombies.Keys, "zombies")
		add(g.Zombies.Leaked, "leaked")
		add(g.Zombies.LockoutRisk, "at risk")
		add(g.Zombies.LockedOut, "locked out")
	}
	return line
}

// healthOf is a line for each group of a database.
func healthOf(s *Snapshot, db int) string {
	var lines []string
	for i := range s.Groups {
		if s.Groups[i].DB == db {
			lines = append(lines, health(&s.Groups[i]))
		}
	}
	return strings.Join(lines, "; ")
}

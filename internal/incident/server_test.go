package incident

// The Redis of a story: its configuration, its commands, its end.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// batch is how many commands are sent in one write.
const batch = 1000

// server is a Redis and the one connection that sends it a story's commands.
type server struct {
	*redistest.Server
	conn *redis.Conn
}

func startServer(t *testing.T, settings map[string]string) *server {
	t.Helper()
	var args []string
	for name, value := range settings {
		args = append(args, "--"+name)
		if words := strings.Fields(value); len(words) > 0 {
			args = append(args, words...)
		} else {
			args = append(args, "")
		}
	}
	return &server{Server: redistest.Start(t, args...)}
}

// connect gives the story a connection, a new one after a restart.
func (s *server) connect(t *testing.T) *redis.Conn {
	t.Helper()
	if s.conn == nil {
		client := s.Client(t, func(o *redis.Options) {
			o.MaxRetries = -1
			o.ReadTimeout, o.WriteTimeout = time.Minute, time.Minute
			o.Protocol = 2
		})
		conn := client.Conn()
		t.Cleanup(func() { _ = conn.Close() })
		s.conn = conn
	}
	return s.conn
}

// change does what a step does to the server itself.
func (s *server) change(t *testing.T, step Step) {
	t.Helper()
	if step.Kill {
		s.Kill()
		s.conn = nil
	}
	if step.Restart {
		s.Restart(t)
		s.conn = nil
	}
	for name, value := range step.Change {
		if err := s.connect(t).ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatalf("CONFIG SET %s %s: %v", name, value, err)
		}
	}
	for _, command := range step.Run {
		if err := s.send(t, command); err != nil {
			t.Fatalf("%s: %v", strings.Join(command.Run, " "), err)
		}
	}
}

// send sends a command as often as it wants, many in one write.
func (s *server) send(t *testing.T, command Command) error {
	conn := s.connect(t)
	for sent, all := 0, max(command.Repeat, 1); sent < all; {
		pipe := conn.Pipeline()
		for range min(batch, all-sent) {
			sent++
			pipe.Do(t.Context(), numbered(command.Run, sent)...)
		}
		if err := failure(pipe.Exec(t.Context())); err != nil && !command.MayFail {
			return err
		}
	}
	return nil
}

// failure is the first error that is one: a missing value is none.
func failure(replies []redis.Cmder, err error) error {
	if len(replies) == 0 {
		return err
	}
	for _, reply := range replies {
		if err := reply.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	return nil
}

// numbered is a command with its number in the place of {i}.
func numbered(words Words, i int) []any {
	args := make([]any, len(words))
	for n, word := range words {
		args[n] = strings.ReplaceAll(word, "{i}", strconv.Itoa(i))
	}
	return args
}

// traffic sends commands at their pace until stop is called, which fails the test
// where one of them failed.
func (s *server) traffic(t *testing.T, all []Traffic) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := s.Client(t, func(o *redis.Options) { o.MaxRetries = -1 })
	failed := make(chan error)
	for _, one := range all {
		go func() { failed <- one.flow(ctx, client) }()
	}
	return func() {
		cancel()
		for range all {
			if err := <-failed; err != nil {
				t.Errorf("traffic: %v", err)
			}
		}
	}
}

// flow is the traffic of one kind; a ctx that ends is no error.
func (k Traffic) flow(ctx context.Context, client *redis.Client) error {
	type later struct {
		at   time.Time
		args []any
	}
	var waiting []later
	uncut := context.WithoutCancel(ctx) // a write that is cut halfway would lose what was begun
	begin, sent := time.Now(), 0
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			// What was begun is ended: a limiter in two steps leaves no key behind here.
			pipe := client.Pipeline()
			for _, one := range waiting {
				pipe.Do(uncut, one.args...)
			}
			if pipe.Len() == 0 {
				return nil
			}
			return failure(pipe.Exec(uncut))
		case now := <-ticker.C:
			pipe := client.Pipeline()
			for ; len(waiting) > 0 && !waiting[0].at.After(now); waiting = waiting[1:] {
				pipe.Do(uncut, waiting[0].args...)
			}
			for ; sent < int(now.Sub(begin).Seconds()*float64(k.PerSecond)); sent++ {
				i := sent + 1
				if k.Of > 0 {
					i = sent%k.Of + 1
				}
				pipe.Do(uncut, numbered(k.Run, i)...)
				if len(k.Then) > 0 {
					waiting = append(waiting, later{now.Add(time.Duration(k.After)), numbered(k.Then, i)})
				}
			}
			if pipe.Len() == 0 {
				continue
			}
			if err := failure(pipe.Exec(uncut)); err != nil && ctx.Err() == nil && !k.MayFail {
				return fmt.Errorf("%v: %w", k.Run, err)
			}
		}
	}
}

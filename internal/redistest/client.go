// This file owns what talks to a test's server: the readiness check, the client for
// tests, and Fill.

package redistest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// fillTimeout is how long one Fill may take.
	fillTimeout = 60 * time.Second
	// pingTimeout is how long one attempt waits; waitReady makes many.
	pingTimeout = 250 * time.Millisecond
)

// ping reports whether a server serves at addr. Any answer is one, also a
// refusal for want of a password, except that it is still loading its data.
func ping(addr, password string, secured *tls.Config) error {
	conn, err := dial(addr, secured)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(pingTimeout)); err != nil {
		return err
	}
	answers := bufio.NewReader(conn)
	if password != "" {
		if _, err := ask(conn, answers, "AUTH", password); err != nil {
			return err
		}
	}
	line, err := ask(conn, answers, "PING")
	if err != nil {
		return err
	}
	if strings.HasPrefix(line, "-LOADING") {
		return errors.New(strings.TrimSpace(line))
	}
	return nil
}

func dial(addr string, secured *tls.Config) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: pingTimeout}
	if secured != nil {
		return tls.DialWithDialer(dialer, "tcp", addr, secured)
	}
	return dialer.Dial("tcp", addr)
}

// ask sends one command and reads the one line of its answer.
func ask(conn net.Conn, answers *bufio.Reader, words ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := conn.Write([]byte(b.String())); err != nil {
		return "", err
	}
	return answers.ReadString('\n')
}

// Client returns a client of the server that is closed when the test ends. It
// sends nothing that the test did not ask for except HELLO, and logs in if the
// server was started with --requirepass. options change it before it is made.
func (s *Server) Client(t testing.TB, options ...func(*redis.Options)) *redis.Client {
	t.Helper()
	opt := &redis.Options{
		Addr:                     s.Addr(),
		Password:                 s.password(),
		TLSConfig:                s.clientTLS(),
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, change := range options {
		change(opt)
	}
	c := redis.NewClient(opt)
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it already
	return c
}

// Fill runs a Lua script in the server, with args as its ARGV, over a
// connection of its own: the quick way to many keys. It fails the test after a
// minute.
func Fill(t testing.TB, s *Server, lua string, args ...any) {
	t.Helper()
	c := s.Client(t, func(o *redis.Options) {
		o.ReadTimeout = fillTimeout
		o.MaxRetries = -1 // a second run of a script is not the same as one
	})
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), fillTimeout)
	defer cancel()
	if err := c.Eval(ctx, lua, nil, args...).Err(); err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("redistest: fill %s: %v", s.Addr(), err)
	}
}

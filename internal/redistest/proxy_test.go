package redistest

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// proxied returns a proxy before a server, and a client through it.
func proxied(t *testing.T) (*Server, *Proxy, *redis.Client) {
	t.Helper()
	s := Start(t)
	p := StartProxy(t, s.Addr())
	return s, p, through(t, s, p)
}

// through returns a client that does not try anything twice.
func through(t *testing.T, s *Server, p *Proxy) *redis.Client {
	t.Helper()
	return s.Client(t, func(o *redis.Options) {
		o.Addr, o.MaxRetries, o.DialerRetries, o.ReadTimeout = p.Addr(), -1, 1, 30*time.Second
	})
}

func TestProxyPassesOn(t *testing.T) {
	s, p, c := proxied(t)
	if p.Addr() == s.Addr() || p.URL() != "redis://"+p.Addr() {
		t.Errorf("the proxy is at %s (%s), the server at %s", p.Addr(), p.URL(), s.Addr())
	}
	big := string(make([]byte, 5<<20))
	if err := c.Set(t.Context(), "k", big, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "k").Result(); got != big || err != nil {
		t.Errorf("%d bytes came back of %d (%v)", len(got), len(big), err)
	}
}

func TestProxyDelaysWithoutLimitingThroughput(t *testing.T) {
	_, p, c := proxied(t)
	if err := c.Ping(t.Context()).Err(); err != nil { // connects
		t.Fatal(err)
	}
	const delay = 100 * time.Millisecond
	p.SetDelay(delay)
	start := time.Now()
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < delay {
		t.Errorf("a round trip took %v, want at least %v", took, delay)
	}

	// Many commands sent one by one, not waiting for answers: if chunks waited
	// for each other, this would take commands*delay/2 = 25 s.
	const commands = 500
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	start = time.Now()
	for range commands {
		if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Microsecond) // a packet each
	}
	if _, err := io.ReadFull(conn, make([]byte, commands*len("+PONG\r\n"))); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < delay || took > 5*time.Second {
		t.Errorf("%d commands took %v, want a little more than %v", commands, took, delay)
	}

	p.SetDelay(0)
	start = time.Now()
	for range 20 {
		if err := c.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took > 10*delay {
		t.Errorf("20 round trips without delay took %v", took)
	}
}

func TestProxyCut(t *testing.T) {
	s, p, c := proxied(t)
	blocked := make(chan error, 1)
	go func() { blocked <- c.BLPop(t.Context(), 20*time.Second, "nothing").Err() }()
	direct := s.Client(t)
	eventually(t, "the read blocks in the server", func() bool {
		info, err := direct.Info(t.Context(), "clients").Result()
		return err == nil && strings.Contains(info, "blocked_clients:1\r\n")
	})
	p.Cut()
	select {
	case err := <-blocked:
		if err == nil || errors.Is(err, redis.Nil) {
			t.Errorf("the blocked read ended with %v, want a network error", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read goes on after the cut")
	}
	if err := through(t, s, p).Ping(t.Context()).Err(); err != nil {
		t.Errorf("a new connection after the cut: %v", err)
	}
}

func TestProxyRefuse(t *testing.T) {
	s, p, c := proxied(t)
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	p.Refuse(true)
	p.Refuse(true) // again does nothing
	if _, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: %v, want it refused", err)
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("a connection that was there: %v", err)
	}
	p.Refuse(false)
	if err := through(t, s, p).Ping(t.Context()).Err(); err != nil {
		t.Errorf("a new connection afterwards: %v", err)
	}
}

func TestProxyFollowsItsServer(t *testing.T) {
	s, p, _ := proxied(t)
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, len("+PONG\r\n"))); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the server's end: %v, want the end of the connection", err)
	}
}

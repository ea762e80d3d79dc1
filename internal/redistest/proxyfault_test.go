package redistest

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestProxyWaitsUntilIdle(t *testing.T) {
	_, p, c := proxied(t)
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	go p.WhileIdle(func() { close(began) })
	select {
	case <-began:
		t.Error("somebody is connected")
	case <-time.After(100 * time.Millisecond):
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-began
}

func TestProxyHoldsConnectionsWhileIdle(t *testing.T) {
	s, p, c := proxied(t)
	answered := make(chan error, 1)
	first := through(t, s, p)
	if err := first.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = first.Close() })
	p.WhileIdle(func() {
		go func() { answered <- c.Ping(t.Context()).Err() }()
		select {
		case <-answered:
			t.Error("a connection was served meanwhile")
		case <-time.After(100 * time.Millisecond):
		}
		s.Restart(t)
	})
	if err := <-answered; err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestProxyHoldsUpARequest(t *testing.T) {
	s, p, c := proxied(t)
	direct := s.Client(t)
	counted := make(chan int64, 2)
	var asking sync.WaitGroup
	asking.Go(func() {
		for range cap(counted) { // the second is not held up
			_ = c.Ping(t.Context()).Err() // neither is another request
			counted <- c.DBSize(t.Context()).Val()
		}
	})
	p.Before("dbsize", func() {
		if len(counted) > 0 {
			t.Error("the request went on")
		}
		if err := direct.Set(t.Context(), "k", 1, 0).Err(); err != nil {
			t.Error(err)
		}
	})
	asking.Wait()
	if first, second := <-counted, <-counted; first != 1 || second != 1 {
		t.Errorf("%d and %d keys, want the one that was set before", first, second)
	}
}

func TestProxyCutsAnswers(t *testing.T) {
	s, p, c := proxied(t)
	if err := s.Client(t).Set(t.Context(), "k", strings.Repeat("x", 1000), 0).Err(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		bytes int
		reset bool
		want  error
	}{
		{0, false, nil}, {100, false, nil}, {0, true, syscall.ECONNRESET}, {100, true, syscall.ECONNRESET},
	} {
		p.CutAnswers("get", test.bytes, test.reset)
		if err := c.Ping(t.Context()).Err(); err != nil {
			t.Errorf("another request: %v", err)
		}
		conn, err := net.Dial("tcp", p.Addr()) // go-redis reports a reset as an end now and then
		if err == nil {
			_, err = io.WriteString(conn, "GET k\r\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(conn)
		if len(text) != test.bytes || !errors.Is(err, test.want) {
			t.Errorf("%d bytes, then %v; want %d, then %v", len(text), err, test.bytes, test.want)
		}
		_ = conn.Close() // the other side is gone
	}
	p.CutAnswers("", 0, false)
	if got, err := c.Get(t.Context(), "k").Result(); len(got) != 1000 || err != nil {
		t.Errorf("%d bytes (%v) after all is well again", len(got), err)
	}
}

// This file owns a TCP proxy that makes the network between a test and its server
// slow or broken. It knows bytes and connections, not Redis.

package redistest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy passes TCP connections on to a target. Its methods may be called from
// several goroutines, Refuse(false) from that of the test.
type Proxy struct {
	t      testing.TB
	target string
	addr   string
	delay  atomic.Int64 // of a round trip, in nanoseconds

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	links    map[*link]struct{}
	changed  *sync.Cond // links, closed or paused
	ended    int        // links that there were
	closed   bool
	paused   bool // connections that come wait
	wg       sync.WaitGroup

	faults faults
}

// link is one connection through the proxy. Cancelling it closes both ends.
type link struct {
	ctx    context.Context
	cancel context.CancelFunc
	cut    cutting // of the answers
	mu     sync.Mutex
	ends   []net.Conn
}

// StartProxy starts a proxy for target ("127.0.0.1:port") on a free loopback
// port. It ends, with all its connections, when the test does.
func StartProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, target: target, addr: address(FreePort(t)), links: map[*link]struct{}{}}
	p.changed = sync.NewCond(&p.mu)
	p.Refuse(false)
	t.Cleanup(p.close)
	return p
}

// Addr is "127.0.0.1:port".
func (p *Proxy) Addr() string { return p.addr }

// URL is "redis://127.0.0.1:port".
func (p *Proxy) URL() string { return "redis://" + p.addr }

// SetDelay makes a round trip take d longer: each direction delivers its bytes
// d/2 after they came, however many are under way. It holds for bytes that
// come from now on, and d = 0 takes the delay away.
func (p *Proxy) SetDelay(d time.Duration) { p.delay.Store(int64(d)) }

// Cut closes all connections now; bytes under way are lost. New connections
// are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Refuse refuses new connections, as a host without a server does, or accepts
// them again. Connections that exist are left alone.
func (p *Proxy) Refuse(refuse bool) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case refuse && p.listener != nil:
		_ = p.listener.Close()
		p.listener = nil
	case !refuse && p.listener == nil:
		l, err := listen(p.addr)
		if err != nil {
			p.t.Fatalf("redistest: proxy: %v", err)
		}
		p.listener = l
		p.wg.Go(func() { p.serve(l) })
	}
}

// close ends everything and waits for it.
func (p *Proxy) close() {
	p.Refuse(true)
	p.mu.Lock()
	p.closed = true
	p.changed.Broadcast()
	p.mu.Unlock()
	p.Cut()
	p.wg.Wait()
}

// serve accepts until its listener is closed.
func (p *Proxy) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.handle(client) })
	}
}

func (p *Proxy) handle(client net.Conn) {
	l := &link{ends: []net.Conn{client}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	defer l.close()
	if !p.add(l) {
		return
	}
	defer p.remove(l)
	var dialer net.Dialer
	server, err := dialer.DialContext(l.ctx, "tcp", p.target)
	if err != nil {
		return
	}
	l.attach(server)
	var directions sync.WaitGroup
	directions.Go(func() { p.pump(l, server, requests{client, p, l}) })
	directions.Go(func() { p.pump(l, client, answers{server, l}) })
	directions.Wait()
}

func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.paused && !p.closed {
		p.changed.Wait()
	}
	if p.closed {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
	p.ended++
	p.changed.Broadcast()
}

// attach adds the second end, which is closed at once if the link already is.
func (l *link) attach(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, c)
	if l.ctx.Err() != nil {
		_ = c.Close()
	}
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel()
	for _, c := range l.ends {
		_ = c.Close() // may be closed already
	}
}

// chunk is what one read brought, to be written at due. No data means that the
// sender has ended its direction, or with reset that the connection ends as if a
// host had forgotten it.
type chunk struct {
	data  []byte
	due   time.Time
	reset bool
}

// pump moves one direction. The queue between reader and writer is what makes
// latency without a limit on throughput: reading goes on while chunks wait.
func (p *Proxy) pump(l *link, dst net.Conn, src io.Reader) {
	queue := make(chan chunk, 1024)
	p.wg.Go(func() {
		defer close(queue)
		p.read(l.ctx, src, queue)
	})
	for c := range queue {
		if !sleepUntil(l.ctx, c.due) {
			return
		}
		if c.data == nil {
			if tcp, ok := dst.(*net.TCPConn); ok && c.reset {
				_ = tcp.SetLinger(0)
				l.close()
			} else if ok {
				_ = tcp.CloseWrite() // the other side may be gone
			}
			return
		}
		if _, err := dst.Write(c.data); err != nil {
			l.close()
			return
		}
	}
}

// read queues what src sends; an error is passed on as the end of the
// direction, after the bytes before it.
func (p *Proxy) read(ctx context.Context, src io.Reader, queue chan<- chunk) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		due := time.Now().Add(time.Duration(p.delay.Load()) / 2)
		if n > 0 && !send(ctx, queue, chunk{data: bytes.Clone(buf[:n]), due: due}) {
			return
		}
		if err != nil {
			send(ctx, queue, chunk{due: due, reset: errors.Is(err, errReset)})
			return
		}
	}
}

// send reports whether the chunk was queued before the link was closed.
func send(ctx context.Context, queue chan<- chunk, c chunk) bool {
	select {
	case queue <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// sleepUntil reports whether it slept to the end.
func sleepUntil(ctx context.Context, due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

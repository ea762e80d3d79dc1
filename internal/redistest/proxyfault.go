// This file owns what a Proxy does at a chosen moment: between two connections, or
// at a request of one kind. Of Redis it knows no more than that a request holds the
// name of its command.

package redistest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// requestDeadline is how long Before waits.
const requestDeadline = 2 * time.Minute

// faults are what is to happen at requests that hold a word; empty: nothing.
type faults struct {
	mu     sync.Mutex
	before string // is held up once
	hold   func()
	after  string // cuts
	cut    cutting
}

// cutting ends a connection after some more bytes of answers.
type cutting struct {
	mu    sync.Mutex
	on    bool
	left  int
	reset bool
}

// errReset ends a direction by a reset.
var errReset = errors.New("reset")

// WhileIdle waits for the end of a connection after which nobody is connected, and
// calls f then: of one who comes now and then the next visit is far off. Connections
// that come meanwhile wait.
func (p *Proxy) WhileIdle(f func()) {
	p.mu.Lock()
	for ended := p.ended; len(p.links) > 0 || p.ended == ended; {
		p.changed.Wait()
	}
	p.paused = true
	p.mu.Unlock()
	defer func() { // f may end the test
		p.mu.Lock()
		defer p.mu.Unlock()
		p.paused = false
		p.changed.Broadcast()
	}()
	f()
}

// Before waits for a request that holds the word, calls f, and then lets the request
// go on. Words are lower case, and found in any case. Like f, it belongs to the
// goroutine of the test.
func (p *Proxy) Before(word string, f func()) {
	p.t.Helper()
	arrived, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	p.faults.mu.Lock()
	p.faults.before, p.faults.hold = word, func() {
		close(arrived)
		<-release
	}
	p.faults.mu.Unlock()
	select {
	case <-arrived:
		f()
	case <-time.After(requestDeadline):
		p.t.Fatalf("redistest: proxy: no request holds %q", word)
	}
}

// CutAnswers ends each connection after a request that holds the word and n bytes
// of its answer: as a server that closes it, or with reset as a host that has
// forgotten it. An empty word ends no more of them.
func (p *Proxy) CutAnswers(word string, n int, reset bool) {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	p.faults.after = word
	p.faults.cut.left, p.faults.cut.reset = n, reset
}

// requests reads what a client sends.
type requests struct {
	io.Reader
	proxy *Proxy
	link  *link
}

func (r requests) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	holds := func(word string) bool {
		return word != "" && strings.Contains(string(bytes.ToLower(b[:n])), word)
	}
	f := &r.proxy.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if holds(f.before) {
		f.before = ""
		hold := f.hold
		f.mu.Unlock() // the test may ask for more
		hold()
		f.mu.Lock()
	}
	if holds(f.after) {
		r.link.cut.begin(f.cut.left, f.cut.reset)
	}
	return n, err
}

// answers reads what the server sends, up to where it is cut.
type answers struct {
	io.Reader
	link *link
}

func (a answers) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	c := &a.link.cut
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return n, err
	}
	if n < c.left {
		c.left -= n
		return n, err
	}
	if n = c.left; c.reset {
		return n, errReset
	}
	return n, io.EOF
}

func (c *cutting) begin(left int, reset bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on, c.left, c.reset = true, left, reset
}

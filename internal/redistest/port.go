// This file owns the choice of ports, and keeps them for the tests that chose
// them. It does not start anything on them.

package redistest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Ports are drawn from [firstPort, firstPort+portCount). That range, and the
// cluster bus ports busOffset above it, lie below the ephemeral ports of Linux
// (32768), so that no outgoing connection takes one in between.
const (
	firstPort = 10000
	portCount = 10000
	busOffset = 10000
)

const host = "127.0.0.1"

// reservation is a TCP port that no other test process uses until it is
// released. What holds it is the UDP port of the same number, which Redis has no
// use for: a lock across processes that ends with its process. So a server
// can be down for a while and come back on its port.
type reservation struct {
	port int
	lock net.PacketConn
}

// reserve finds a port that is free, and whose cluster bus port is.
func reserve() (*reservation, error) {
	var last error
	for range 100 {
		r := &reservation{port: firstPort + rand.IntN(portCount)}
		if r.lock, last = net.ListenPacket("udp", address(r.port)); last != nil {
			continue
		}
		if last = probe(r.port, r.port+busOffset); last != nil {
			r.release()
			continue
		}
		return r, nil
	}
	return nil, fmt.Errorf("find a free port: %w", last)
}

// release lets other tests have the port.
func (r *reservation) release() {
	_ = r.lock.Close() // closing a socket that only holds a number cannot fail in a way that matters
}

// probe reports whether all the ports can be listened on now.
func probe(ports ...int) error {
	for _, port := range ports {
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// listen listens on a reserved port. A process that is being started has copies of
// all our sockets for a moment, also of one that was closed: until then the port is
// in use.
func listen(addr string) (net.Listener, error) {
	deadline := time.Now().Add(startDeadline)
	for {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			return l, err
		}
		time.Sleep(pollInterval)
	}
}

// FreePort returns a loopback port that is free and is kept from the other
// users of this package until the test ends, as is the port 10000 above it
// that a cluster node wants for its bus.
func FreePort(t testing.TB) int {
	t.Helper()
	r, err := reserve()
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(r.release)
	return r.port
}

func address(port int) string {
	return net.JoinHostPort(host, strconv.Itoa(port))
}

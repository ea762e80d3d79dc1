package source

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// chunked is a connection that delivers a text in parts of a size.
type chunked struct {
	net.Conn
	text   []byte
	size   int
	closed bool
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.text)
	c.text = c.text[n:]
	return n, nil
}

func (c *chunked) Close() error { c.closed = true; return nil }

func TestGuard(t *testing.T) {
	name := "$10\r\n*999999999\r\n" // a string that looks like a header
	for _, test := range []struct {
		text string
		fine bool
	}{
		{"*2\r\n$1\r\n0\r\n*2\r\n" + name + "$3\r\nabc\r\n", true},
		{":5\r\n+OK\r\n-ERR x\r\n$-1\r\n*-1\r\n_\r\n", true},
		{"$67108864\r\n", true},
		{"$67108865\r\n", false},
		{"$1099511627776\r\nabc", false},
		{"$9223372036854775807\r\n", false},
		{"*2\r\n$1\r\n0\r\n*2147483647\r\n", false},
		{"%1048577\r\n", false},
		{"*1048576\r\n", true},
		{"-ERR " + strings.Repeat("x", longestHeader), false},
		{"$0\r\n\r\n*9999999\r\n", false},
	} {
		for _, size := range []int{1, 2, 7, 1 << 20} {
			below := &chunked{text: []byte(test.text), size: size}
			got, err := io.ReadAll(&guardedConn{Conn: below})
			if fine := err == nil && bytes.Equal(got, []byte(test.text)); fine != test.fine || below.closed == test.fine {
				t.Errorf("%.40q in parts of %d: %v", test.text, size, err)
			}
			if !test.fine && !errors.Is(err, error(errTooMuch)) {
				t.Errorf("%.40q: %v", test.text, err)
			}
		}
	}
}

// FuzzGuard: what is announced within bounds passes unchanged, whatever it is.
func FuzzGuard(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\n0\r\n$3\r\nabc\r\n"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		below := &chunked{text: text, size: max(1, size%64)}
		got, err := io.ReadAll(&guardedConn{Conn: below})
		if err == nil && !bytes.Equal(got, text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

package source

import (
	"bytes"
	"errors"
	"net"
	"strconv"
)

// What an answer may announce. A server that announces more is believed by the
// client library, which reserves the memory before a byte of it has come.
const (
	longestBulk   = 64 << 20 // bytes of a string; a key's name is far shorter
	longestArray  = 1 << 20  // elements
	longestHeader = 1 << 16  // bytes of a line that announces a length
)

var errTooMuch = &Failure{Reason: ReasonOther, Err: errors.New("an answer is longer than any that is asked for")}

// guardedConn reads RESP along with the client library and breaks the
// connection at a length that is too large.
type guardedConn struct {
	net.Conn
	header []byte // the line that is being read: its type and its length
	skip   int64  // bytes of a string that are still to come
}

// Read implements net.Conn.
func (c *guardedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.follow(p[:n]) {
		_ = c.Close()
		return 0, errTooMuch
	}
	return n, err
}

// follow goes on through the stream, and is false at a length too large.
func (c *guardedConn) follow(p []byte) bool {
	for len(p) > 0 {
		if c.skip > 0 {
			part := min(c.skip, int64(len(p)))
			p, c.skip = p[part:], c.skip-part
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			c.header = append(c.header, p[:min(len(p), longestHeader)]...)
			return len(c.header) <= longestHeader
		}
		c.header = append(c.header, p[:min(end, longestHeader)]...)
		p = p[end+1:]
		if !c.announced() {
			return false
		}
		c.header = c.header[:0]
	}
	return true
}

// announced looks at a whole line. What is no number is for the client library
// to refuse.
func (c *guardedConn) announced() bool {
	if len(c.header) == 0 || len(c.header) > longestHeader {
		return len(c.header) == 0
	}
	length, err := strconv.ParseInt(string(bytes.TrimRight(c.header[1:], "\r")), 10, 64)
	switch c.header[0] {
	case '$', '=', '!':
		if err == nil && length >= 0 {
			c.skip = length + 2 // and its line break
		}
		return length <= longestBulk
	case '*', '~', '%', '>':
		return length <= longestArray
	}
	return true
}

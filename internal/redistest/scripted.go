package redistest

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/server"
)

// Scripted answers as other servers and proxies do: a RESP2 server that has 100
// keys, limit:0 to limit:99 in database 0, every tenth without TTL, and knows what
// a sweep needs; each answer can be replaced. HELLO is unknown to it.
type Scripted struct {
	server *server.Server
}

// Answer writes the answer to a command; args are the words after its name.
type Answer func(c *server.Peer, args []string)

const (
	scriptedKeys = 100
	scriptedPage = 10
	// ScriptedInfo is what INFO says.
	ScriptedInfo = "# Server\r\nredis_version:6.0.0\r\nredis_mode:standalone\r\n# Keyspace\r\ndb0:keys=100,expires=90,avg_ttl=0\r\n"
)

// StartScripted starts the server with answers by command, in upper case; a nil
// one is a command that it does not know. It stops when the test ends.
func StartScripted(t testing.TB, answers map[string]Answer) *Scripted {
	t.Helper()
	s, err := server.NewServer("127.0.0.1:0")
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(s.Close)
	known := map[string]Answer{
		"PING":   func(c *server.Peer, _ []string) { c.WriteInline("PONG") },
		"CLIENT": func(c *server.Peer, _ []string) { c.WriteOK() },
		"SELECT": func(c *server.Peer, _ []string) { c.WriteOK() },
		"INFO":   func(c *server.Peer, _ []string) { c.WriteBulk(ScriptedInfo) },
		"TIME":   func(c *server.Peer, _ []string) { c.WriteStrings([]string{"1800000000", "0"}) },
		"SCAN":   scriptedScan,
		"PTTL":   scriptedTTL,
		"TYPE":   func(c *server.Peer, _ []string) { c.WriteInline("string") },
		"MEMORY": func(c *server.Peer, _ []string) { c.WriteInt(72) },
	}
	maps.Copy(known, answers)
	for name, answer := range known {
		if answer == nil {
			continue
		}
		if err := s.Register(name, func(c *server.Peer, _ string, args []string) { answer(c, args) }); err != nil {
			t.Fatalf("redistest: %v", err)
		}
	}
	return &Scripted{s}
}

// Refuse is an answer that is an error.
func Refuse(text string) Answer {
	return func(c *server.Peer, _ []string) { c.WriteError(text) }
}

// URL is the address with its scheme.
func (s *Scripted) URL() string { return "redis://" + s.server.Addr().String() }

// scriptedScan knows 0 and the cursors that it gave itself: unsigned numbers
// above 2^63, as some servers have.
func scriptedScan(c *server.Peer, args []string) {
	cursor, err := strconv.ParseUint(args[0], 10, 64)
	page := 0
	if cursor != 0 {
		page = int(math.MaxUint64 - cursor)
	}
	if err != nil || page < 0 || page >= scriptedKeys/scriptedPage {
		c.WriteError("ERR invalid cursor")
		return
	}
	next := "0"
	if page+1 < scriptedKeys/scriptedPage {
		next = strconv.FormatUint(math.MaxUint64-uint64(page+1), 10)
	}
	names := make([]string, scriptedPage)
	for i := range names {
		names[i] = fmt.Sprintf("limit:%d", page*scriptedPage+i)
	}
	c.WriteLen(2)
	c.WriteBulk(next)
	c.WriteStrings(names)
}

func scriptedTTL(c *server.Peer, args []string) {
	if strings.HasSuffix(args[0], "0") {
		c.WriteInt(-1)
		return
	}
	c.WriteInt(60_000)
}

package demo

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// serverName is what the server calls itself in INFO, and so in
// keyhealth_redis_info.
const serverName = "keyhealth-demo"

// memoryServer is a Redis in memory whose TTLs run down and whose INFO tells
// the truth about it; miniredis alone does neither.
type memoryServer struct {
	*miniredis.Miniredis
	moment sync.Mutex   // held while time passes, so that INFO sees one moment
	used   atomic.Int64 // bytes, as of the last look
}

func newMemoryServer() (*memoryServer, error) {
	s := &memoryServer{Miniredis: miniredis.NewMiniRedis()}
	if err := s.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("the demo's Redis: %w", err)
	}
	s.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if !strings.EqualFold(command, "INFO") {
			return false
		}
		c.WriteBulk(s.info())
		return true
	})
	return s, nil
}

// info has the fields that can be known here, and no others.
func (s *memoryServer) info() string {
	s.moment.Lock()
	defer s.moment.Unlock()
	keys, expires := s.Keys(), 0
	for _, key := range keys {
		if s.TTL(key) > 0 {
			expires++
		}
	}
	var text strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&text, format+"\r\n", values...) }
	line("# Server")
	line("server_name:%s", serverName)
	line("redis_mode:standalone")
	line("# Memory")
	line("used_memory:%d", s.used.Load())
	line("maxmemory:0")
	line("maxmemory_policy:noeviction")
	line("# Stats")
	line("evicted_keys:0")
	line("# Replication")
	line("role:master")
	line("# Keyspace")
	if len(keys) > 0 {
		line("db0:keys=%d,expires=%d,avg_ttl=0", len(keys), expires)
	}
	return text.String()
}

// pass lets time pass.
func (s *memoryServer) pass(d time.Duration) {
	s.moment.Lock()
	defer s.moment.Unlock()
	s.FastForward(d)
}

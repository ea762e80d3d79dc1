// The cases of failures_test.go in which the server is there and is busy with
// something else, or has no room.

package exportertest

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"keyhealth/internal/redistest"
)

var busyFailures = []failure{
	{name: "loading", begin: func(s *stage) {
		shop("--enable-debug-command", "yes", "--rdbcompression", "no", "--loading-process-events-interval-bytes", "1024")(s)
		redistest.Fill(s.T, s.server, `for i = 1, 5000 do redis.call('SET', 'page:large:' .. i, string.rep('SECRET', 400)) end`)
		s.send("SAVE")
	}, acts: []act{
		well,
		{name: "the server loads its data again", do: idle(func(s *stage) {
			s.send("CONFIG", "SET", "key-load-delay", "20000")
			s.background("DEBUG", "RELOAD", "NOSAVE")
			s.answers("LOADING", "PING")
		}), ends: fails},
		again(func(s *stage) { s.send("CONFIG", "SET", "key-load-delay", "0") }),
	}},
	{name: "busy_script", begin: shop("--lua-time-limit", "100"), acts: []act{
		well,
		{name: "a script runs and runs", do: idle(func(s *stage) {
			s.background("EVAL", "while true do end", "0")
			s.answers("BUSY", "PING")
		}), ends: fails},
		again(func(s *stage) { s.send("SCRIPT", "KILL") }),
	}},
	{name: "max_clients", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = s.server.URL() // a proxy would lose the answer with the connection
		s.send("PING")
	}, acts: []act{
		well,
		{name: "the server takes no more connections", do: func(s *stage) { s.send("CONFIG", "SET", "maxclients", "1") }, ends: fails},
		again(func(s *stage) { s.send("CONFIG", "SET", "maxclients", "100") }),
	}},
	{name: "master_down", begin: func(s *stage) {
		s.other = redistest.Start(s.T)
		redistest.Fill(s.T, s.other, shopKeys)
		s.server = redistest.StartReplica(s.T, s.other, "--replica-serve-stale-data", "no")
		s.client = s.server.Client(s.T)
		s.proxy = redistest.StartProxy(s.T, s.server.Addr())
		s.settings["REDIS_URL"] = s.proxy.URL()
	}, acts: []act{
		well,
		{name: "the replica has lost its master and serves nothing", do: idle(func(s *stage) {
			s.other.Kill()
			s.answers("MASTERDOWN", "PING")
		}), ends: fails},
		again(idle(func(s *stage) { // half a synchronization is another failure
			s.other.Restart(s.T)
			redistest.Fill(s.T, s.other, shopKeys)
			s.exporter.eventually(s.T, "the end of the synchronization", func() bool {
				keys, err := s.client.DBSize(s.Context()).Result()
				return err == nil && keys == 120
			})
		})),
	}},
}

// writeFailures are answers to writes of others: sweeps go on, and they are counted.
var writeFailures = []failure{
	{name: "oom", begin: shop(), acts: []act{
		well,
		{name: "writes meet maxmemory", do: func(s *stage) {
			s.send("CONFIG", "SET", "maxmemory", "1")
			s.answers("OOM", "SET", "page:more", "SECRET")
		}, ends: succeeds, when: counted("OOM")},
	}},
	{name: "misconf", begin: func(s *stage) {
		dir := s.TempDir()
		shop("--save", "3600 1", "--dir", dir)(s)
		s.file = filepath.Join(dir, "dump.rdb")
	}, acts: []act{
		well,
		{name: "the server cannot save, and takes no writes", do: func(s *stage) {
			if err := os.Mkdir(s.file, 0o700); err != nil { // root may write anywhere, but not over a directory
				s.Fatal(err)
			}
			s.send("BGSAVE")
			s.answers("MISCONF", "SET", "page:1", "SECRET")
		}, ends: succeeds, when: counted("MISCONF")},
	}},
	{name: "readonly", begin: func(s *stage) {
		s.other = redistest.Start(s.T)
		redistest.Fill(s.T, s.other, shopKeys)
		s.server = redistest.StartReplica(s.T, s.other)
		s.client = s.server.Client(s.T)
		s.settings["REDIS_URL"] = s.server.URL()
	}, acts: []act{
		well,
		{name: "somebody writes to the replica", do: func(s *stage) { s.answers("READONLY", "SET", "page:more", "SECRET") },
			ends: succeeds, when: counted("READONLY")},
	}},
}

// counted says that replies of a kind have come.
func counted(kind string) func(m Metrics) bool {
	return func(m Metrics) bool {
		values := m.Values("keyhealth_error_replies_total", "error="+kind)
		return len(values) == 1 && values[0] > 0
	}
}

// answers asks until the server answers with an error of a kind.
func (s *stage) answers(kind string, words ...any) {
	s.Helper()
	client := s.server.Client(s.T)
	defer func() { _ = client.Close() }()
	s.exporter.eventually(s.T, "the answer "+kind, func() bool {
		err := client.Do(s.Context(), words...).Err()
		return err != nil && strings.HasPrefix(err.Error(), kind)
	})
}

// background sends a command whose answer comes late, or never.
func (s *stage) background(words ...any) {
	client := s.server.Client(s.T)
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = client.Do(ctx, words...).Err() // it is broken off
	}()
	s.Cleanup(func() {
		cancel()
		_ = client.Close()
		s.server.Kill()
		<-done
	})
}

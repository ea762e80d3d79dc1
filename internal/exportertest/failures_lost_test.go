// The cases of failures_test.go in which the connection, or the server, is lost.

package exportertest

import (
	"net"

	"keyhealth/internal/redistest"
)

// answering starts what takes a connection, says one thing and closes it.
func answering(s *stage, text string) {
	s.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	s.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(text))
			_, _ = c.Read(make([]byte, 512))
			_ = c.Close() // the other side may be gone
		}
	}()
	s.settings["REDIS_URL"] = "redis://" + listener.Addr().String()
}

var lostFailures = []failure{
	{name: "down_at_start", begin: func(s *stage) {
		shop()(s)
		s.proxy.Refuse(true)
	}, acts: []act{
		{name: "nobody listens there", ends: fails},
		again(func(s *stage) { s.proxy.Refuse(false) }),
	}},
	{name: "down_later", begin: shop(), acts: []act{
		well,
		{name: "the server is killed", do: idle(func(s *stage) {
			s.proxy.Refuse(true)
			s.server.Kill()
		}), ends: fails},
		again(func(s *stage) {
			s.server.Restart(s.T)
			redistest.Fill(s.T, s.server, shopKeys)
			s.proxy.Refuse(false)
		}),
	}},
	{name: "down_until_stale", begin: func(s *stage) {
		shop()(s)
		s.settings["STALE_AFTER"] = "2s"
	}, acts: []act{
		{name: "the server is out of reach for longer than STALE_AFTER", do: func(s *stage) {
			s.exporter.Sweeps(s.T, 1)
			s.proxy.WhileIdle(func() { s.proxy.Refuse(true) })
		}, ends: fails,
			when: func(m Metrics) bool {
				return !m.Has("keyhealth_keys") && !m.Has("keyhealth_group_keys") && !m.Has("keyhealth_memory_used_bytes")
			}},
		again(func(s *stage) { s.proxy.Refuse(false) }),
	}},
	{name: "hang", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_TIMEOUT"] = "5s"
	}, acts: []act{
		well,
		{name: "the server answers nothing", do: idle(func(s *stage) { s.server.Freeze(s.T) }), ends: fails},
		again(func(s *stage) { s.server.Thaw(s.T) }),
	}},
	{name: "hang_in_mid_sweep", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_TIMEOUT"] = "5s"
	}, acts: []act{
		well,
		{name: "the server stops while it is swept", do: func(s *stage) {
			s.proxy.Before("pttl", func() { s.server.Freeze(s.T) })
		}, ends: fails},
		again(func(s *stage) { s.server.Thaw(s.T) }),
	}},
	{name: "sweep_too_long", begin: func(s *stage) {
		shop()(s)
		s.settings["SWEEP_TIMEOUT"] = "8s" // of all that a sweep does, on a busy machine too
		s.server.Freeze(s.T)
	}, acts: []act{
		{name: "no answer in SWEEP_TIMEOUT, which is shorter than REDIS_TIMEOUT", ends: fails},
		again(func(s *stage) { s.server.Thaw(s.T) }),
	}},
	{name: "half_an_answer", begin: shop(), acts: []act{
		well,
		{name: "connections end in the middle of the names of a page", do: idle(func(s *stage) { s.proxy.CutAnswers("scan", 100, false) }), ends: fails},
		again(func(s *stage) { s.proxy.CutAnswers("", 0, false) }),
	}},
	{name: "reset_in_mid_page", begin: shop(), acts: []act{
		well,
		{name: "connections are reset among the TTLs of a page", do: idle(func(s *stage) { s.proxy.CutAnswers("pttl", 100, true) }), ends: fails},
		again(func(s *stage) { s.proxy.CutAnswers("", 0, false) }),
	}},
	{name: "reset_and_gone", begin: shop(), acts: []act{
		well,
		{name: "one connection is reset, then nobody listens: one reason, one line", do: func(s *stage) {
			s.proxy.Before("pttl", func() {
				s.proxy.CutAnswers("pttl", 0, true)
				s.proxy.Refuse(true)
			})
		}, ends: fails},
		again(func(s *stage) {
			s.proxy.CutAnswers("", 0, false)
			s.proxy.Refuse(false)
		}),
	}},
	{name: "closed_at_once", begin: func(s *stage) { answering(s, "") },
		acts: []act{{name: "a load balancer without a server behind it", ends: fails}}},
	{name: "unknown_host", begin: func(s *stage) {
		s.settings["REDIS_URL"] = "redis://redis..shop" // no resolver asks anybody for such a name
	}, acts: []act{{name: "the name is unknown", ends: fails}}},
}

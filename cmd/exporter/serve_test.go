package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const listening = `msg="Listening on" address=(\S+)`

// TestServe is the whole program, at a Redis that is not there.
func TestServe(t *testing.T) {
	setenv(t, map[string]string{
		"KEYHEALTH_REDIS_URL":   "redis://alice9:hunter2@127.0.0.1:1/3",
		"KEYHEALTH_TARGET_NAME": "shop",
	})
	log := newLogBuffer()
	stop := start(t, func(ctx context.Context) error {
		if code := run(ctx, []string{"--web.listen-address=127.0.0.1:0", "--web.listen-address=127.0.0.1:0"}, log, log); code != exitFine {
			return errors.New("wrong exit code")
		}
		return nil
	})
	s := &stage{address: log.waitFor(t, listening)[1], client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}}
	log.waitFor(t, `msg="keyhealth is starting" target=shop version=\S* address=127.0.0.1:1 interval=1m groups=0`)
	log.waitFor(t, `level=WARN .*No groups of your own are described.*KEYHEALTH_GROUPS=`)
	log.waitFor(t, `(?s)Listening on.*Listening on`)
	for status := 0; status != 200; {
		status, _ = s.get(t, "/-/ready") // a first sweep, which fails
	}
	_, body := s.get(t, "/metrics")
	for _, want := range []string{`keyhealth_up{target="shop"} 0`, "keyhealth_build_info{", "go_goroutines ", "process_start_time_seconds "} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("%s is missing in %s", want, body)
		}
	}
	if err := stop(); err != nil {
		t.Error(err, log)
	}
	for _, trace := range []string{"alice9", "hunter2"} {
		if strings.Contains(log.String()+body, trace) {
			t.Errorf("%q shows in %s %s", trace, log, body)
		}
	}
}

func TestAnnouncementOfUnverifiedTLS(t *testing.T) {
	for skip, want := range map[string]bool{"true": true, "false": false} {
		got := runWith(t, map[string]string{
			"KEYHEALTH_REDIS_URL":             "rediss://127.0.0.1:1",
			"KEYHEALTH_REDIS_TLS_SKIP_VERIFY": skip,
			"KEYHEALTH_WEB_LISTEN_ADDRESS":    "127.0.0.1:0",
		})
		if strings.Contains(got.stderr, "The certificate of Redis is not verified") != want {
			t.Errorf("SKIP_VERIFY=%s: %s", skip, got)
		}
	}
}

func TestBusyPort(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	address := taken.Addr().String()
	rule := `="` + address + `": the address is in use by another process, for example `
	got := runWith(t, map[string]string{"KEYHEALTH_WEB_LISTEN_ADDRESS": "127.0.0.1:0," + address})
	if want := "keyhealth: KEYHEALTH_WEB_LISTEN_ADDRESS" + rule + "KEYHEALTH_WEB_LISTEN_ADDRESS=:10122\n"; got.code != exitUsage || got.stderr != want {
		t.Errorf("got %swant %s", got, want)
	}
	got = runWith(t, nil, "--web.listen-address="+address)
	if want := "keyhealth: --web.listen-address" + rule + "--web.listen-address=:10122\n"; got.code != exitUsage || got.stderr != want {
		t.Errorf("got %swant %s", got, want)
	}
	got = runWith(t, map[string]string{"KEYHEALTH_WEB_LISTEN_ADDRESS": "192.0.2.1:0"})
	if got.code != exitUsage || !strings.Contains(got.stderr, "cannot listen there: ") || strings.Count(got.stderr, "\n") != 1 {
		t.Error(got)
	}
}

func TestASlowTaskIsLeftBehind(t *testing.T) {
	s := newStage(t, nil)
	release, ended := make(chan struct{}), make(chan struct{})
	s.service.stopTime = time.Millisecond
	s.service.tasks = []task{&fakeTask{run: func(context.Context) error {
		defer close(ended)
		<-release
		return nil
	}}}
	s.start(t)
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	s.log.waitFor(t, "a sweep did not stop in time")
	close(release)
	<-ended
}

func TestAFailedPartEndsTheRest(t *testing.T) {
	failure := errors.New("no more")
	fails := func(context.Context) error { return failure }
	t.Run("task", func(t *testing.T) {
		s := newStage(t, nil)
		s.service.tasks = []task{&fakeTask{}, &fakeTask{run: fails}}
		if err := s.service.run(t.Context()); !errors.Is(err, failure) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("task, and another one hangs", func(t *testing.T) {
		s := newStage(t, nil)
		release, ended := make(chan struct{}), make(chan struct{})
		s.service.stopTime = time.Millisecond
		s.service.tasks = []task{&fakeTask{run: fails}, &fakeTask{run: func(context.Context) error {
			defer close(ended)
			<-release
			return nil
		}}}
		if err := s.service.run(t.Context()); !errors.Is(err, failure) {
			t.Errorf("got %v", err)
		}
		close(release)
		<-ended
	})
	t.Run("listener", func(t *testing.T) {
		s := newStage(t, nil)
		s.service.tasks = []task{&fakeTask{}}
		_ = s.service.listeners[0].Close()
		if err := s.service.run(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("web configuration", func(t *testing.T) {
		file := writeFile(t, "{}")
		s := newStage(t, map[string]string{"KEYHEALTH_WEB_CONFIG_FILE": file})
		if err := os.Remove(file); err != nil { // it was fine when it was checked
			t.Fatal(err)
		}
		if err := s.service.run(t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		waitUntilClosed(t, s.address)
		runtime.KeepAlive(s) // the garbage collector closes listeners too
	})
}

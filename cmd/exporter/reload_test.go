package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

const twoTargets = `
groups: [{name: login, match: "login:*"}]
targets:
  - {name: stays, url: "redis://127.0.0.1:1"}
  - {name: changes, url: "redis://127.0.0.1:1", groups: []}
  - {name: goes, url: "redis://127.0.0.1:1"}
`

const otherTargets = `
groups: [{name: login, match: "login:*"}]
targets:
  - {name: comes, url: "redis://127.0.0.1:1"}
  - {name: changes, url: "redis://127.0.0.1:1", groups: [{name: a, match: b}]}
  - {name: stays, url: "redis://127.0.0.1:1"}
`

// reloading is a stage that watches the targets of a file.
func reloading(t *testing.T, env map[string]string, content string) (s *stage, file string) {
	t.Helper()
	file = writeFile(t, content)
	full := map[string]string{"KEYHEALTH_CONFIG_FILE": file}
	for name, value := range env {
		full[prefix+name] = value
	}
	s = newStage(t, full)
	s.service.watch = newWatchers(s.service.log, s.service.cfg.targets())
	s.service.reloader = newReloader(s.service.cfg, s.service.watch, nil, s.service.log)
	s.service.metrics.MustRegister(s.service.reloader.success, s.service.reloader.at)
	s.service.tasks = []task{s.service.watch, s.service.reloader}
	s.start(t)
	return s, file
}

func (s *stage) post(t *testing.T, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.do(t, request)
}

// names are the targets in force.
func (s *stage) names() string {
	names := []string{}
	for _, one := range s.service.watch.watched() {
		names = append(names, one.target.Name)
	}
	return strings.Join(names, " ")
}

func rewrite(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReload(t *testing.T) {
	s, file := reloading(t, map[string]string{"WEB_ENABLE_LIFECYCLE": "true"}, twoTargets)
	before := s.service.watch.watched()
	t.Setenv("KEYHEALTH_SWEEP_INTERVAL", "1s") // is not read again
	rewrite(t, file, otherTargets)
	if status, body := s.post(t, "/-/reload"); status != 200 || body != "reloaded\n" {
		t.Fatalf("%d %s", status, body)
	}
	s.log.waitFor(t, `The configuration is reloaded" targets=3 added=\[comes\] removed=\[goes\] changed=\[changes\]`)
	if got := s.names(); got != "comes changes stays" {
		t.Fatalf("targets are %s", got)
	}
	after := s.service.watch.watched()
	if after[2].watcher != before[0].watcher {
		t.Error("the watcher of an unchanged target was exchanged")
	}
	if after[1].watcher == before[1].watcher || len(after[1].target.Rules) != 1 {
		t.Error("a changed target is watched as before")
	}
	<-before[1].ended // or the test never ends
	<-before[2].ended
	for _, one := range after {
		if one.target.Sweep.Interval.Seconds() != 60 {
			t.Errorf("%s has an interval of %v: the environment was read again", one.target.Name, one.target.Sweep.Interval)
		}
		for !one.watcher.Ready() { // it runs
			s.get(t, "/-/healthy")
		}
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	for _, one := range after {
		<-one.ended
	}
}

func TestABadFileChangesNothing(t *testing.T) {
	s, file := reloading(t, map[string]string{"WEB_ENABLE_LIFECYCLE": "true"}, twoTargets)
	before := s.service.watch.watched()
	read := testutil.ToFloat64(s.service.reloader.at)
	rewrite(t, file, "grups: []\ntargets: [{name: new, url: 'redis://app:hunter2@h', cluster: perhaps}, {name: hunter}]")
	status, body := s.post(t, "/-/reload")
	if status != 500 || !strings.HasPrefix(body, file+`, line 1: unknown key "grups" in the file, the nearest is groups`+"\n") {
		t.Errorf("%d %s", status, body)
	}
	s.log.waitFor(t, `level=ERROR .*The configuration is not reloaded, the one before stays in force" problem=.*unknown key`)
	rewrite(t, file, "targets: [{name: new, url: 'redis://app:hunter2@h'}, {name: newer}]")
	if status, body := s.post(t, "/-/reload"); status != 500 || strings.Count(body, "\n") != 2 || strings.Contains(body, "hunter2") {
		t.Errorf("%d %s", status, body)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if status, body := s.post(t, "/-/reload"); status != 500 || !strings.Contains(body, "no such file") {
		t.Errorf("%d %s", status, body)
	}
	for i, one := range s.service.watch.watched() {
		if one != before[i] {
			t.Errorf("%s was exchanged", one.target.Name)
		}
	}
	_, body = s.get(t, "/metrics")
	if !strings.Contains(body, "\nkeyhealth_config_last_reload_success 0\n") || testutil.ToFloat64(s.service.reloader.at) != read {
		t.Errorf("the failure does not show: %s", body)
	}
	rewrite(t, file, otherTargets)
	if status, body := s.post(t, "/-/reload"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if testutil.ToFloat64(s.service.reloader.success) != 1 || testutil.ToFloat64(s.service.reloader.at) <= read {
		t.Error("the success does not show")
	}
	if strings.Contains(s.log.String(), "hunter2") {
		t.Error("a password is in the log")
	}
}

func TestReloadByHTTPIsOffByDefault(t *testing.T) {
	s, file := reloading(t, nil, twoTargets)
	rewrite(t, file, otherTargets)
	if status, body := s.post(t, "/-/reload"); status != 403 || strings.Count(body, "\n") != 1 || !strings.Contains(body, "KEYHEALTH_WEB_ENABLE_LIFECYCLE=true") {
		t.Errorf("%d %s", status, body)
	}
	if got := s.names(); got != "stays changes goes" {
		t.Errorf("targets are %s", got)
	}
}

// TestHangup is the whole program: SIGHUP reads the file, and ends nothing.
func TestHangup(t *testing.T) {
	file := writeFile(t, twoTargets)
	setenv(t, map[string]string{"KEYHEALTH_CONFIG_FILE": file})
	log := newLogBuffer()
	stop := start(t, func(ctx context.Context) error {
		if code := run(ctx, []string{"--web.listen-address=127.0.0.1:0"}, log, log); code != exitFine {
			return errors.New("wrong exit code")
		}
		return nil
	})
	log.waitFor(t, listening)
	rewrite(t, file, otherTargets)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.waitFor(t, `The configuration is reloaded" targets=3 added=\[comes\]`)
	rewrite(t, file, "targets: [{name: last, url: 'redis://127.0.0.1:1'}]")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.waitFor(t, `The configuration is reloaded" targets=1 added=\[last\]`)
	if err := stop(); err != nil {
		t.Error(err, log)
	}
}

// TestReloadWithoutAFile: there is nothing to read, and nothing changes.
func TestReloadWithoutAFile(t *testing.T) {
	s := newStage(t, map[string]string{"KEYHEALTH_REDIS_URL": "redis://127.0.0.1:1"})
	watch := newWatchers(s.service.log, s.service.cfg.targets())
	before := watch.watched()
	if problems := newReloader(s.service.cfg, watch, nil, s.service.log).reload(); len(problems) > 0 || watch.watched()[0] != before[0] {
		t.Error("something was reloaded:", problems)
	}
	s.log.waitFor(t, "There was nothing to read again.*hint=KEYHEALTH_CONFIG_FILE")
	for _, listener := range s.service.listeners {
		_ = listener.Close()
	}
}

// TestAFileWithoutTargetsAnyMore is one that an editor has emptied to write it
// anew: what it watched stays, and nothing of the environment is dialled.
func TestAFileWithoutTargetsAnyMore(t *testing.T) {
	// What the environment says alone would be refused for other reasons.
	s, file := reloading(t, map[string]string{"WEB_ENABLE_LIFECYCLE": "true", "REDIS_USERNAME": "app", "REDIS_PASSWORD": "hunter2"}, twoTargets)
	before := s.service.watch.watched()
	for name, content := range map[string]string{"empty": "", "a comment": "# later\n", "groups": "groups: []\n", "null": "~"} {
		rewrite(t, file, content)
		status, body := s.post(t, "/-/reload")
		if want := file + ": the file names no targets any more; a restart takes the targets from the environment\n"; status != 500 || body != want {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for i, one := range s.service.watch.watched() {
		if len(before) != 3 || one != before[i] {
			t.Errorf("%s was exchanged", one.target.Name)
		}
	}
	if testutil.ToFloat64(s.service.reloader.success) != 0 || strings.Count(s.log.String(), "names no targets any more") != 4 || strings.Count(s.log.String(), "is not reloaded") != 4 {
		t.Error("the failures do not show:", s.log)
	}
	rewrite(t, file, otherTargets)
	if status, body := s.post(t, "/-/reload"); status != 200 || s.names() != "comes changes stays" {
		t.Errorf("%d %s", status, body)
	}
}

// TestTargetsThatCameByAReload: they must not vanish either.
func TestTargetsThatCameByAReload(t *testing.T) {
	file := writeFile(t, "")
	s := newStage(t, map[string]string{"KEYHEALTH_CONFIG_FILE": file})
	watch := newWatchers(s.service.log, s.service.cfg.targets()) // none of them runs
	r := newReloader(s.service.cfg, watch, nil, s.service.log)
	for _, step := range []struct {
		content  string
		problems int
	}{{"groups: []", 0}, {twoTargets, 0}, {"", 1}} {
		rewrite(t, file, step.content)
		if problems := r.reload(); len(problems) != step.problems {
			t.Errorf("%q: %v", step.content, problems)
		}
	}
	if n := len(watch.watched()); n != 3 {
		t.Errorf("there are %d targets", n)
	}
	for _, listener := range s.service.listeners {
		_ = listener.Close()
	}
}

// TestAFileThatNeverEnds: what blocks or has no end is not read, and holds up
// nothing; what a link points to is.
func TestAFileThatNeverEnds(t *testing.T) {
	s, file := reloading(t, map[string]string{"WEB_ENABLE_LIFECYCLE": "true"}, twoTargets)
	large := writeFile(t, strings.Repeat("#", mostFileBytes)+"\n")
	fine := writeFile(t, otherTargets)
	link := func(to string) func() error { return func() error { return os.Symlink(to, file) } }
	for name, test := range map[string]struct {
		put    func() error
		status int
		said   string
	}{
		"a FIFO":      {func() error { return syscall.Mkfifo(file, 0o600) }, 500, "(it is not a regular file)"},
		"/dev/zero":   {link("/dev/zero"), 500, "(it is not a regular file)"},
		"a directory": {func() error { return os.Mkdir(file, 0o700) }, 500, "(is a directory)"},
		"large":       {link(large), 500, "(it is larger than 4 MiB)"},
		"a link":      {link(fine), 200, "reloaded"},
	} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := test.put(); err != nil {
			t.Fatal(err)
		}
		if status, body := s.post(t, "/-/reload"); status != test.status || !strings.Contains(body, test.said) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// TestReloadsDoNotPileUp: while one reloads, one more waits.
func TestReloadsDoNotPileUp(t *testing.T) {
	s, _ := reloading(t, map[string]string{"WEB_ENABLE_LIFECYCLE": "true"}, twoTargets)
	s.service.reloader.mu.Lock()
	got := make(chan int)
	for range 5 {
		go func() {
			status, _ := s.post(t, "/-/reload")
			got <- status
		}()
	}
	for call := range 5 {
		if call == 3 {
			s.service.reloader.mu.Unlock()
		}
		if status, want := <-got, map[bool]int{true: 503, false: 200}[call < 3]; status != want {
			t.Errorf("answer %d is %d, want %d", call+1, status, want)
		}
	}
}

// Every way in which a Redis fails, and what a user sees of it: the log and the
// health part of /metrics, against the files in testdata/failures. They are written
// by -update, never by hand. The cases are in failures_*_test.go, what is shown of
// them in failurestage_test.go.

package exportertest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

const failuresDir = "testdata/failures"

// failure is a way to fail; it has a file of its name.
type failure struct {
	name  string
	begin func(*stage) // starts what is to be watched and says in s.settings where it is
	acts  []act
}

// act is a change of state. What is seen after it was published by sweeps that
// began after it, and more than one: a state that stays is logged once.
type act struct {
	name string
	do   func(*stage)       // nil: nothing
	ends ending             // of the sweeps after it
	when func(Metrics) bool // beside that; nil: at once
}

// ending is how sweeps end.
type ending bool

const (
	fails    ending = false
	succeeds ending = true
)

// secrets are in the cases' settings and keyspaces, and belong in no log.
var secrets = []string{"hunter2", "alice", "SECRET"}

var failures = slices.Concat(lostFailures, busyFailures, refusedFailures, writeFailures, wrongFailures, clusterFailures, keyspaceChanges)

func TestFailures(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			wantFile(t, filepath.Join(failuresDir, f.name+".golden"), f.play(t))
		})
	}
}

// play lets a failure happen, and tells what was seen.
func (f failure) play(t *testing.T) string {
	s := &stage{T: t, settings: Settings{
		"TARGET_NAME": "shop", "GROUPS": "limit=limit:*@60s", "SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1",
		"REDIS_TIMEOUT": "20s", "STALE_AFTER": "1h", // a busy machine is no failure
	}}
	f.begin(s)
	s.exporter = Start(t, s.settings)
	var seen strings.Builder
	for _, a := range f.acts {
		if a.do != nil {
			a.do(s)
		}
		before := s.exporter.Scrape(t)
		after := s.exporter.Wait(t, f.name+": "+a.name, func(m Metrics) bool {
			return a.over(before, m) && (a.when == nil || a.when(m))
		})
		seen.WriteString("# " + a.name + "\n\n" + s.lines() + s.health(after) + "\n")
	}
	if code, _ := s.exporter.Terminate(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if rest := s.lines(); rest != "" {
		t.Errorf("said after the last act:\n%s", rest)
	}
	return seen.String()
}

// over says whether two sweeps have ended as they should since before: the second
// of them began after that.
func (a act) over(before, m Metrics) bool {
	if a.ends == fails {
		return m.Is("keyhealth_sweep_success", "==", 0) && sum(m, "keyhealth_sweep_failures_total") >= sum(before, "keyhealth_sweep_failures_total")+2
	}
	return m.Is("keyhealth_sweep_success", "==", 1) && sum(m, "keyhealth_sweeps_total") >= sum(before, "keyhealth_sweeps_total")+2
}

func sum(m Metrics, name string) (total float64) {
	for _, value := range m.Values(name) {
		total += value
	}
	return total
}

// TestFailureFilesAreProduced: a file whose case is gone proves nothing.
func TestFailureFilesAreProduced(t *testing.T) {
	files, err := os.ReadDir(failuresDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(failures, func(f failure) bool { return f.name+".golden" == file.Name() }) {
			t.Errorf("no case produces %s/%s: delete it, or bring its case back", failuresDir, file.Name())
		}
	}
}

// wantFile compares a text with a file, or writes it under -update.
func wantFile(t *testing.T, path, got string) {
	t.Helper()
	if t.Failed() {
		return
	}
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write it with go test -run TestFailures ./internal/exportertest -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs:%s\nif the new text is right: go test -run TestFailures ./internal/exportertest -update", path, difference(string(want), got))
	}
}

// difference shows from the first line that differs what each text has.
func difference(want, got string) string {
	wanted, have := strings.Split(want, "\n"), strings.Split(got, "\n")
	for len(wanted) > 0 && len(have) > 0 && wanted[0] == have[0] {
		wanted, have = wanted[1:], have[1:]
	}
	for len(wanted) > 0 && len(have) > 0 && wanted[len(wanted)-1] == have[len(have)-1] {
		wanted, have = wanted[:len(wanted)-1], have[:len(have)-1]
	}
	var b strings.Builder
	for _, line := range wanted {
		b.WriteString("\n- " + line)
	}
	for _, line := range have {
		b.WriteString("\n+ " + line)
	}
	return b.String()
}

// shop starts a server with a few keys behind a proxy.
func shop(args ...string) func(*stage) {
	return func(s *stage) {
		s.server = redistest.Start(s.T, args...)
		redistest.Fill(s.T, s.server, shopKeys)
		s.client = s.server.Client(s.T)
		s.proxy = redistest.StartProxy(s.T, s.server.Addr())
		s.settings["REDIS_URL"] = s.proxy.URL()
	}
}

// shopKeys are 100 keys of a group and 20 of another without TTL: there is much
// that a failure must not turn into a 0, and nothing that takes a second look.
const shopKeys = `
	for i = 1, 100 do redis.call('SET', 'limit:alice' .. i, 'SECRET', 'EX', 3000) end
	for i = 1, 20 do redis.call('SET', 'page:' .. i, 'SECRET') end`

// well is the act that most cases begin with, again the one they end with.
var (
	well  = act{name: "all is well", ends: succeeds}
	again = func(do func(*stage)) act { return act{name: "it is over", do: do, ends: succeeds} }
)

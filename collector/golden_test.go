// The whole text of a scrape in each state a target can be in, against the
// files in testdata/golden. They are written by -update, never by hand.

package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"keyhealth/collector/classify"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
)

const goldenDir = "testdata/golden"

// goldenState is a state that has a file of its name.
type goldenState struct {
	name   string
	target func(*spec.Target)                     // what differs from shopTarget
	node   func(*fake.Node)                       // what differs from shopNode
	then   func(*testing.T, *Watcher, *fake.Node) // instead of one sweep
}

var goldenStates = []goldenState{
	{name: "before_first_sweep", then: func(*testing.T, *Watcher, *fake.Node) {}},
	{name: "unreachable", node: func(n *fake.Node) { n.Script(fake.FailOn("connect", fake.CutError())) }},
	{name: "success"},
	{name: "sampled", target: func(t *spec.Target) { t.Sweep.MaxKeys = 1000 }, node: func(n *fake.Node) {
		n.Put(0, "rate_limit:ocr:more:%d", 4000, 50*time.Second)
		n.Put(0, "rate_limit:ocr:stuck:more:%d", 400, 0)
	}},
	{name: "failed_after_success", then: func(_ *testing.T, w *Watcher, n *fake.Node) {
		sweepAndPublish(w)
		pass(time.Minute)
		n.Script(fake.FailOn("scan", source.Refusal("BUSY")))
		sweepAndPublish(w)
	}},
	{name: "stale", then: func(_ *testing.T, w *Watcher, n *fake.Node) {
		sweepAndPublish(w)
		n.Script(fake.FailOn("connect", fake.CutError()))
		pass(10 * time.Minute)
		sweepAndPublish(w)
		w.dropStale()
	}},
	{name: "empty_keyspace", node: func(n *fake.Node) { n.Flush() }},
	{name: "rules_at_zero", node: func(n *fake.Node) {
		n.Flush()
		n.Put(0, "page:%d", 30, time.Hour)
		n.Put(3, "page:%d", 10, 0)
	}},
	{name: "permission_denied", node: func(n *fake.Node) {
		n.Deny("memory", true)
		n.Deny("time", true)
		n.Forbid("flags:")
	}},
	{name: "partial_cluster", then: func(t *testing.T, w *Watcher, n *fake.Node) {
		other := fake.NewNode(t)
		other.Label = "other.test:6379"
		other.Put(0, "login:%d", 40, 30*time.Minute)
		shards := []source.Shard{{ID: "a", Primary: n, InCluster: true}, {ID: "b", Primary: other, InCluster: true}}
		for range 2 {
			began := time.Now()
			w.answered = false
			w.finished(outcome{visits: w.fleet.Visit(t.Context(), shards, w.greeted), took: time.Since(began)})
			other.Script(fake.FailOn("connect", fake.CutError()))
		}
	}},
	{name: "no_statistics", node: func(n *fake.Node) {
		for _, section := range []string{"Errorstats", "Commandstats", "Latencystats"} {
			n.Withhold(section)
		}
	}},
	{name: "no_keyspace", node: func(n *fake.Node) { n.NoKeyspace = true }},
	{name: "selftest", then: func(_ *testing.T, w *Watcher, _ *fake.Node) {
		w.SetSelfTest(SelfTest{Checks: []SelfTestCheck{{Name: "ttl"}}}) // replaced
		w.SetSelfTest(SelfTest{Ended: time.Now(), Took: 250 * time.Millisecond, Checks: []SelfTestCheck{{Name: "exact_limit", Passed: true}, {Name: "healing"}}})
		sweepAndPublish(w) // and kept
	}},
	{name: "replica", node: func(n *fake.Node) {
		n.Say("role", "slave")
		n.Say("redis_version", "7.2.4")
		n.Sections[0].Fields = append(n.Sections[0].Fields, "server_name:valkey", "valkey_version:8.1.3")
	}},
}

// shopTarget has a rule of every kind.
func shopTarget() spec.Target {
	return spec.Target{Name: "shop", Sweep: spec.DefaultSweep(), Rules: []classify.Rule{
		{Name: "ocr", Match: classify.Globs{"rate_limit:ocr:*"}, Window: classify.Duration(time.Minute), Limit: 50},
		{Name: "login", Match: classify.Globs{"login:*", "signup:*"}, MaxTTL: classify.Duration(time.Hour)},
		{Name: "flags", Match: classify.Globs{"flags:*"}, TTL: classify.Persistent},
		{Name: "pages", Match: classify.Globs{"page:*"}, TTL: classify.Unknown, UniqueNames: true},
		{Name: "unused", Match: classify.Globs{"unused:*"}},
	}}
}

// shopNode has keys of most of them, in two databases.
func shopNode(t testing.TB) *fake.Node {
	n := fake.NewNode(t)
	n.Skew = 26 * 365 * 24 * time.Hour
	n.Delay("ping", 250*time.Microsecond)
	n.Delay("scan", time.Millisecond)
	n.Put(0, "rate_limit:ocr:%d", 60, 40*time.Second)
	n.Put(0, "rate_limit:ocr:stuck:%d", 6, 0)
	n.Put(0, "rate_limit:ocr:1700000%03d", 4, 0) // leaks
	n.Put(0, "rate_limit:ocr:long:%d", 3, 5*time.Minute)
	n.Put(0, "login:%d", 20, 30*time.Minute)
	n.Put(0, "flags:%d", 5, 0)
	n.Put(0, "page:%d", 15, 10*24*time.Hour)
	n.Put(0, "page:old:%d", 2, 500*24*time.Hour)
	n.Put(0, "else:%d", 8, 0)
	n.Put(2, "signup:%d", 12, 30*time.Minute)
	n.Put(2, "signup:stuck:%d", 3, 0)
	return n
}

// sweepAndPublish does what Run does around a sweep.
func sweepAndPublish(w *Watcher) {
	began := time.Now()
	w.answered = false
	visits, err := w.fleet.Sweep(context.Background(), w.greeted)
	w.finished(outcome{visits, err, time.Since(began)})
}

// inState puts a watcher into the state.
func (g goldenState) inState(t *testing.T) *Watcher {
	target, n := shopTarget(), shopNode(t)
	if g.target != nil {
		g.target(&target)
	}
	if g.node != nil {
		g.node(n)
	}
	w := watcherOf(target, n, silentLog())
	if g.then != nil {
		g.then(t, w, n)
	} else {
		sweepAndPublish(w)
	}
	return w
}

func TestGolden(t *testing.T) {
	for _, state := range goldenStates {
		t.Run(state.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := New(state.inState(t))
				wantFile(t, filepath.Join(goldenDir, state.name+".prom"), rounded(gather(t, c)))
				problems, err := testutil.CollectAndLint(c)
				if err != nil {
					t.Error(err)
				}
				for _, p := range problems {
					t.Errorf("lint: %s: %s", p.Metric, p.Text)
				}
			})
		})
	}
}

// TestGoldenFilesAreProduced: a file whose state is gone proves nothing.
func TestGoldenFilesAreProduced(t *testing.T) {
	files, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(goldenStates, func(s goldenState) bool { return s.name+".prom" == file.Name() }) {
			t.Errorf("no state produces %s/%s: delete it, or bring its state back", goldenDir, file.Name())
		}
	}
}

// wantFile compares a text with a file, or writes it under -update.
func wantFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: write it with go test ./collector -update", err)
	}
	if d := difference(string(want), got); d != "" {
		t.Errorf("%s differs: %s\nif the new text is right: go test ./collector -update", path, d)
	}
}

// difference shows the lines that only one of two texts has, the first ones.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	var b strings.Builder
	wanted, have := strings.Split(want, "\n"), strings.Split(got, "\n")
	left := 20
	only := func(sign string, lines, others []string) {
		for _, line := range lines {
			if !slices.Contains(others, line) && left > 0 {
				fmt.Fprintf(&b, "\n%s %s", sign, line)
				left--
			}
		}
	}
	only("-", wanted, have)
	only("+", have, wanted)
	if b.Len() == 0 {
		return "the same lines in another order"
	}
	return b.String()
}

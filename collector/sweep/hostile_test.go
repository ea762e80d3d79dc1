// Servers and keyspaces that mean harm, or look as if they did: what is not
// known must not turn into a 0, and what a server sends not into a log line.

package sweep

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/tally"
)

// TestKeysThatComeDuringAWalk: a bulk load moves no group but its own, and not
// the lower bound that the alert stands on.
func TestKeysThatComeDuringAWalk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 10, 0)
		n.Put(0, "limit:fresh:%d", 9990, time.Hour)
		scans := 0
		n.Script(func(_ context.Context, call fake.Call) error {
			if call.Command == "scan" {
				if scans++; scans == 70 { // most of what comes now is not met
					n.Put(0, "load:%d", 40_000, 0)
				}
			}
			return nil
		})
		g := mustGroup(t, sweepOf(t, newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)), 0, "limit")
		if g.Keys < 9900 || g.Keys > 10_100 || g.Zombies.Keys > 10 || g.Zombies.Interval.Lower > 0.0011 {
			t.Errorf("%v keys, %+v; the truth is 10,000 and 10", g.Keys, *g.Zombies)
		}
	})
}

// TestDatabaseFilledMeanwhile: what was passed over as empty has no figures.
func TestDatabaseFilledMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 100, time.Hour)
		n.Script(func(_ context.Context, call fake.Call) error {
			if call.Command == "scan" {
				n.Put(5, "limit:%d", 300, time.Hour)
			}
			return nil
		})
		s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
		s.seen[5] = true
		result := sweepOf(t, s)
		databases, groups := estimate.Figures(&result.Counted)
		d := databases[1]
		if _, known := result.Garbage()[5]; d.Keys != 300 || known || d.Expected.Zombies != nil || groupOf(groups, 5, "limit") != nil {
			t.Errorf("%+v, group %+v", d, groupOf(groups, 5, "limit"))
		}
	})
}

// TestScanThatShowsNothing: INFO counts keys that cannot have expired.
func TestScanThatShowsNothing(t *testing.T) {
	d := &tally.Database{Sized: true, Before: source.DBSize{Keys: 50, Expires: 10}, After: source.DBSize{Keys: 60, Expires: 30}}
	if err := visible([]*tally.Database{d}); source.ReasonOf(err) != source.ReasonRefused {
		t.Errorf("%v", err)
	}
	d.After.Expires = 60 // all of them may be expired garbage
	if err := visible([]*tally.Database{d}); err != nil {
		t.Error(err)
	}
}

// TestAPanicFailsTheSweep: whatever a server sends, the exporter goes on.
func TestAPanicFailsTheSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Put(0, "limit:%d", 10, 0)
		n.Script(func(_ context.Context, call fake.Call) error {
			if call.Command == "pttl" {
				panic("SECRET")
			}
			return nil
		})
		_, err := newSweeper(targetOf(t, ""), n, 1).safely(t.Context(), func(source.Info, time.Duration) {})
		if source.ReasonOf(err) != source.ReasonOther || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v", err)
		}
	})
}

func TestModeOfValkey(t *testing.T) {
	if (&sweeper{}).checkMode(source.ParseInfo("# Server\r\nserver_mode:cluster\r\n")) == nil {
		t.Error("a Valkey Cluster node is taken for a single server")
	}
}

// TestLoadingAnswersInfo: a server that loads its data is up.
func TestLoadingAnswersInfo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := fake.NewNode(t)
		n.Script(fake.FailOn("ping", source.Refusal("LOADING Redis is loading the dataset in memory")))
		answered := false
		_, err := newSweeper(targetOf(t, ""), n, 1).sweep(t.Context(), func(source.Info, time.Duration) { answered = true })
		if !answered || source.ReasonOf(err) != source.ReasonLoading {
			t.Errorf("answered %v, %v", answered, err)
		}
	})
}

// lateContext has come to its end and does not say so yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now(), true }

// TestTimeOfASweep: the socket of a sweep whose time is up may say so first.
func TestTimeOfASweep(t *testing.T) {
	slow := error(&source.Failure{Reason: source.ReasonTimeout, Err: os.ErrDeadlineExceeded})
	if err := timedOut(lateContext{t.Context()}, slow); !errors.Is(err, ErrTooLong) || source.Advice(err) != source.HintTooLong {
		t.Errorf("at the end of a sweep: %v", err)
	}
	if err := timedOut(t.Context(), slow); errors.Is(err, ErrTooLong) || err == nil {
		t.Errorf("of a sweep without an end: %v", err)
	}
	if err := timedOut(lateContext{t.Context()}, nil); err != nil {
		t.Error(err)
	}
}

// TestNodeOfACluster: one node is not the whole keyspace, unless it is swept as a
// part of it.
func TestNodeOfACluster(t *testing.T) {
	cluster := source.ParseInfo("# Server\r\nredis_mode:cluster\r\n")
	alone, member := &sweeper{}, &sweeper{inCluster: true}
	if err := alone.checkMode(cluster); source.ReasonOf(err) != source.ReasonCluster {
		t.Errorf("a node of a Cluster by itself: %v", err)
	}
	if err := member.checkMode(cluster); err != nil {
		t.Errorf("a node of a Cluster as a part of it: %v", err)
	}
	if member.checkMode(source.ParseInfo("# Server\r\nredis_mode:sentinel\r\n")) == nil ||
		member.checkMode(source.ParseInfo("# Server\r\nredis_mode:cluster\r\n# Replication\r\nmaster_sync_in_progress:1\r\n")) == nil {
		t.Error("as a part of a Cluster anything goes")
	}
	target := targetOf(t, "")
	target.Sentinel = &spec.Sentinel{}
	replica := source.ParseInfo("# Replication\r\nrole:slave\r\nmaster_link_status:down\r\n")
	if err := (&sweeper{target: target}).checkMode(replica); source.ReasonOf(err) != source.ReasonMasterDown {
		t.Errorf("what a Sentinel calls the primary is a replica: %v", err)
	}
	if err := alone.checkMode(replica); err != nil {
		t.Errorf("a replica by itself: %v", err)
	}
	for databases, want := range map[int]string{0: "", 3: source.HintDatabase0} {
		target := targetOf(t, "")
		target.Databases = []int{databases}
		if err := (&sweeper{target: target, inCluster: true}).checkMode(cluster); (err == nil) != (want == "") || err != nil && source.Advice(err) != want {
			t.Errorf("database %d of a Cluster: %v", databases, err)
		}
	}
	if newSweeper(targetOf(t, ""), fake.NewNode(t), 1).inCluster {
		t.Error("a sweeper takes its node for a part of a Cluster")
	}
}

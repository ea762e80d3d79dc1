// Servers and keyspaces that mean harm, or look as if they did: what is not
// known must not turn into a 0, and what a server sends not into a log line.

package collector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKeysThatComeDuringAWalk: a bulk load moves no group but its own, and not
// the lower bound that the alert stands on.
func TestKeysThatComeDuringAWalk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "limit:%d", 10, 0)
		n.put(0, "limit:fresh:%d", 9990, time.Hour)
		scans := 0
		n.script(func(_ context.Context, call fakeCall) error {
			if call.command == "scan" {
				if scans++; scans == 70 { // most of what comes now is not met
					n.put(0, "load:%d", 40_000, 0)
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
		n := newFakeNode(t)
		n.put(0, "limit:%d", 100, time.Hour)
		n.script(func(_ context.Context, call fakeCall) error {
			if call.command == "scan" {
				n.put(5, "limit:%d", 300, time.Hour)
			}
			return nil
		})
		s := newSweeper(targetOf(t, "limit=limit:*@60s"), n, 1)
		s.seen[5] = true
		result := sweepOf(t, s)
		databases, groups := figures(result)
		d := databases[1]
		if _, known := result.garbage()[5]; d.Keys != 300 || known || d.Expected.Zombies != nil || groupOf(groups, 5, "limit") != nil {
			t.Errorf("%+v, group %+v", d, groupOf(groups, 5, "limit"))
		}
	})
}

// TestScanThatShowsNothing: INFO counts keys that cannot have expired.
func TestScanThatShowsNothing(t *testing.T) {
	d := &dbTally{sized: true, before: DBSize{Keys: 50, Expires: 10}, after: DBSize{Keys: 60, Expires: 30}}
	if err := visible([]*dbTally{d}); reasonOf(err) != ReasonRefused {
		t.Errorf("%v", err)
	}
	d.after.Expires = 60 // all of them may be expired garbage
	if err := visible([]*dbTally{d}); err != nil {
		t.Error(err)
	}
}

// TestAnswersStayOutOfErrors: what a server sends may be a key name.
func TestAnswersStayOutOfErrors(t *testing.T) {
	for _, err := range []error{errors.New(`redis: can't parse int reply: "SECRET"`), refusal("ERR unknown command 'x', with args beginning with: 'SECRET'"), refusal("SECRET")} {
		if text := failureOf(err).Error(); strings.Contains(text, "SECRET") {
			t.Errorf("%q", text)
		}
	}
}

func TestReasons(t *testing.T) {
	for want, err := range map[string]error{
		ReasonTLS:         &net.OpError{Op: "remote error", Err: errors.New("tls: protocol version not supported")},
		ReasonUnreachable: &net.OpError{Op: "dial", Err: errors.New("connection refused")},
		ReasonTimeout:     context.DeadlineExceeded,
		ReasonOther:       refusal("OOM command not allowed"),
		ReasonRefused:     refusal("ERR DB index is out of range"),
		ReasonMasterDown:  refusal("MASTERDOWN Link with MASTER is down"),
		ReasonMaxClients:  refusal("ERR max number of clients reached"),
		ReasonAuth:        refusal("DENIED Redis is running in protected mode"),
	} {
		if got := reasonOf(failureOf(err)); got != want {
			t.Errorf("%v: the reason is %s, want %s", err, got, want)
		}
	}
	if denies(refusal("ERR DB index is out of range")) || denies(refusal("OOM command not allowed")) {
		t.Error("that is no refusal of a permission")
	}
}

// TestHints: where the advice of the reason would mislead, another is given.
func TestHints(t *testing.T) {
	for want, err := range map[string]error{
		advice[ReasonBusy]:    refusal("BUSY Redis is busy running a script"),
		advice[ReasonRefused]: refusal("ERR unknown command 'SCAN'"),
		hintNoCluster:         refusal("ERR This instance has cluster support disabled"),
		hintNoDatabase:        refusal("ERR DB index is out of range"),
		hintProtected:         refusal("DENIED Redis is running in protected mode"),
	} {
		if got := hintOf(fmt.Errorf("a command: %w", err)); got != want {
			t.Errorf("%v: the hint is %q, want %q", err, got, want)
		}
	}
}

// TestLostConnections: whether one was closed or reset is chance, and says nothing
// that could be done about it.
func TestLostConnections(t *testing.T) {
	for _, err := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, os.NewSyscallError("write", syscall.EPIPE),
		&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
	} {
		if failure := brokenLink(err); failure.Reason != ReasonUnreachable || failure.Error() != "the connection was lost" {
			t.Errorf("%v: %s, %v", err, failure.Reason, failure)
		}
	}
}

// lateContext has come to its end and does not say so yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now(), true }

// TestTimeOfASweep: the socket of a sweep whose time is up may say so first.
func TestTimeOfASweep(t *testing.T) {
	slow := brokenLink(os.ErrDeadlineExceeded)
	if err := timedOut(lateContext{t.Context()}, slow); !errors.Is(err, errTooLong) || hintOf(err) != hintTooLong {
		t.Errorf("at the end of a sweep: %v", err)
	}
	if err := timedOut(t.Context(), slow); errors.Is(err, errTooLong) || err == nil {
		t.Errorf("of a sweep without an end: %v", err)
	}
	if err := timedOut(lateContext{t.Context()}, nil); err != nil {
		t.Error(err)
	}
}

// TestAPanicFailsTheSweep: whatever a server sends, the exporter goes on.
func TestAPanicFailsTheSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.put(0, "limit:%d", 10, 0)
		n.script(func(_ context.Context, call fakeCall) error {
			if call.command == "pttl" {
				panic("SECRET")
			}
			return nil
		})
		_, err := newSweeper(targetOf(t, ""), n, 1).safely(t.Context(), func(Info, time.Duration) {})
		if reasonOf(err) != ReasonOther || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v", err)
		}
	})
}

func TestModeOfValkey(t *testing.T) {
	if (&sweeper{}).checkMode(ParseInfo("# Server\r\nserver_mode:cluster\r\n")) == nil {
		t.Error("a Valkey Cluster node is taken for a single server")
	}
}

// TestLoadingAnswersInfo: a server that loads its data is up.
func TestLoadingAnswersInfo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.script(failOn("ping", refusal("LOADING Redis is loading the dataset in memory")))
		answered := false
		_, err := newSweeper(targetOf(t, ""), n, 1).sweep(t.Context(), func(Info, time.Duration) { answered = true })
		if !answered || reasonOf(err) != ReasonLoading {
			t.Errorf("answered %v, %v", answered, err)
		}
	})
}

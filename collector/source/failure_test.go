package source

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
)

// TestAnswersStayOutOfErrors: what a server sends may be a key name.
func TestAnswersStayOutOfErrors(t *testing.T) {
	for _, err := range []error{errors.New(`redis: can't parse int reply: "SECRET"`), Refusal("ERR unknown command 'x', with args beginning with: 'SECRET'"), Refusal("SECRET")} {
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
		ReasonOther:       Refusal("OOM command not allowed"),
		ReasonRefused:     Refusal("ERR DB index is out of range"),
		ReasonMasterDown:  Refusal("MASTERDOWN Link with MASTER is down"),
		ReasonMaxClients:  Refusal("ERR max number of clients reached"),
		ReasonAuth:        Refusal("DENIED Redis is running in protected mode"),
	} {
		if got := ReasonOf(failureOf(err)); got != want {
			t.Errorf("%v: the reason is %s, want %s", err, got, want)
		}
	}
	if Denies(Refusal("ERR DB index is out of range")) || Denies(Refusal("OOM command not allowed")) {
		t.Error("that is no refusal of a permission")
	}
}

// TestHints: where the advice of the reason would mislead, another is given.
func TestHints(t *testing.T) {
	for want, err := range map[string]error{
		advice[ReasonBusy]:    Refusal("BUSY Redis is busy running a script"),
		advice[ReasonRefused]: Refusal("ERR unknown command 'SCAN'"),
		hintNoCluster:         Refusal("ERR This instance has cluster support disabled"),
		hintNoDatabase:        Refusal("ERR DB index is out of range"),
		hintProtected:         Refusal("DENIED Redis is running in protected mode"),
	} {
		if got := Advice(fmt.Errorf("a command: %w", err)); got != want {
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

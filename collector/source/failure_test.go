package source

import (
	"context"
	"errors"
	"net"
	"strings"
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
	} {
		if got := ReasonOf(failureOf(err)); got != want {
			t.Errorf("%v: the reason is %s, want %s", err, got, want)
		}
	}
	if Denies(Refusal("ERR DB index is out of range")) || Denies(Refusal("OOM command not allowed")) {
		t.Error("that is no refusal of a permission")
	}
}

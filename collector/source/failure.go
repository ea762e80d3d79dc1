// Why a sweep failed, in words that are a label value. Server texts stay out
// of it: they may hold a key name.

package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// The reasons of a failed sweep; values of the label "reason".
const (
	ReasonUnreachable  = "unreachable"   // no connection, or it broke
	ReasonTimeout      = "timeout"       // a command or the sweep took too long
	ReasonTLS          = "tls"           // no trust, or no TLS spoken
	ReasonAuth         = "auth"          // NOAUTH, WRONGPASS
	ReasonNoPermission = "no_permission" // NOPERM
	ReasonLoading      = "loading"       // the server loads its data
	ReasonBusy         = "busy"          // a script blocks the server
	ReasonMasterDown   = "master_down"   // a replica without its master
	ReasonCluster      = "cluster"       // CLUSTERDOWN, MOVED, or a Cluster where none is expected
	ReasonMaxClients   = "max_clients"   // the server takes no more connections
	ReasonRefused      = "refused"       // any other error reply
	ReasonOther        = "other"
)

// Reasons lists every reason, so that each failure series exists from the
// first scrape on.
var Reasons = []string{
	ReasonUnreachable, ReasonTimeout, ReasonTLS, ReasonAuth, ReasonNoPermission, ReasonLoading, ReasonBusy,
	ReasonMasterDown, ReasonCluster, ReasonMaxClients, ReasonRefused, ReasonOther,
}

// Failure is an error with its reason.
type Failure struct {
	Reason string
	Err    error
	key    bool   // it is about one key, not about the command
	Hint   string // what to do, where the reason's advice does not say it
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap gives errors.Is and errors.As the cause.
func (f *Failure) Unwrap() error { return f.Err }

// ReasonOf is the reason of any error.
func ReasonOf(err error) string {
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		return failure.Reason
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ReasonTimeout
	}
	return ReasonOther
}

// errNoDatabase is no refusal: the user asked for what is not there.
var errNoDatabase = errors.New("the server has no such database")

// Denies says whether an error is the server's refusal to do what was asked.
func Denies(err error) bool {
	failure := (*Failure)(nil)
	return errors.As(err, &failure) && !errors.Is(err, errNoDatabase) && (failure.Reason == ReasonNoPermission || failure.Reason == ReasonRefused)
}

// errUnknown is no refusal of a permission: the server has no such command.
var errUnknown = errors.New("the server does not know the command")

// PassesBy says whether a server that answers so still answers INFO.
func PassesBy(err error) bool {
	reason := ReasonOf(err)
	return reason == ReasonLoading || reason == ReasonMasterDown
}

// replyReasons maps the first word of an error reply.
var replyReasons = map[string]string{
	"NOAUTH": ReasonAuth, "WRONGPASS": ReasonAuth, "NOPERM": ReasonNoPermission, "LOADING": ReasonLoading,
	"BUSY": ReasonBusy, "MASTERDOWN": ReasonMasterDown, "CLUSTERDOWN": ReasonCluster, "MOVED": ReasonCluster,
	"ASK": ReasonCluster, "OOM": ReasonOther, "MISCONF": ReasonOther, "READONLY": ReasonOther, "DENIED": ReasonAuth,
}

// closes says whether the server has closed the connection with this reply.
func closes(reply string) bool {
	return strings.HasPrefix(reply, "DENIED") || strings.Contains(reply, maxClients)
}

const maxClients = "max number of clients"

// Refusal turns an error reply into a Failure that keeps its code only.
func Refusal(reply string) *Failure {
	code, _, _ := strings.Cut(reply, " ")
	reason, known := replyReasons[code]
	switch {
	case code == "DENIED":
		return &Failure{Reason: reason, Err: errors.New("Redis answered " + code), Hint: hintProtected}
	case known:
	case strings.Contains(reply, maxClients):
		return &Failure{Reason: ReasonMaxClients, Err: errors.New("the server takes no more connections")}
	case strings.HasPrefix(reply, "ERR AUTH"), strings.HasPrefix(reply, "ERR invalid password"),
		strings.HasPrefix(reply, "ERR Client sent AUTH"):
		reason = ReasonAuth
	case strings.Contains(reply, "DB index is out of range"):
		return &Failure{Reason: ReasonRefused, Err: errNoDatabase, Hint: hintNoDatabase}
	case strings.Contains(reply, "cluster support disabled"):
		return &Failure{Reason: ReasonRefused, Err: errors.New("the server is no node of a Cluster"), Hint: hintNoCluster}
	case strings.HasPrefix(reply, "ERR unknown command"), strings.HasPrefix(reply, "ERR unknown subcommand"):
		return &Failure{Reason: ReasonRefused, Err: errUnknown}
	default:
		reason = ReasonRefused
	}
	if !known {
		code = "an error"
	}
	key := reason == ReasonNoPermission && strings.Contains(reply, "key") && !strings.Contains(reply, "to run the")
	return &Failure{Reason: reason, Err: errors.New("Redis answered " + code), key: key}
}

// brokenLink turns an error of the network into a Failure.
func brokenLink(err error) *Failure {
	var authority x509.UnknownAuthorityError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var operation *net.OpError
	var network net.Error
	switch {
	case errors.As(err, &authority), errors.As(err, &certificate), errors.As(err, &record),
		errors.As(err, &operation) && strings.HasSuffix(operation.Op, " error"): // a TLS alert
		return &Failure{Reason: ReasonTLS, Err: err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &network) && network.Timeout():
		return &Failure{Reason: ReasonTimeout, Err: errors.New("no answer in time")}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE): // which of them is chance
		return &Failure{Reason: ReasonUnreachable, Err: errors.New("the connection was lost")}
	case errors.As(err, &network):
		return &Failure{Reason: ReasonUnreachable, Err: err}
	}
	// What else there is quotes what the server sent.
	return &Failure{Reason: ReasonOther, Err: errors.New("the answer could not be understood")}
}

package limiter

import "time"

// Result is one decision, as of the moment the server made it. Durations are
// whole milliseconds, by the server's clock. Of several policies, Limit and
// Remaining are of the one with the fewest calls left.
type Result struct {
	// Allowed says that the call may go on. It was counted, unless it was
	// only peeked at.
	Allowed bool
	// Limit is the number of calls a window, or the capacity of a bucket.
	Limit int64
	// Remaining is how many calls of cost 1 would be allowed after this one:
	// 0 to Limit.
	Remaining int64
	// RetryAfter is how long to wait before the same call can be allowed: 0
	// when it was, else at least 1 ms and at most MaxTTL.
	RetryAfter time.Duration
	// ResetAfter is how long until all of Limit is there again: at most
	// MaxTTL, and 0 when it is now.
	ResetAfter time.Duration
	// Healed says that this call found a key in a state that would have kept
	// it, or its caller out, for longer than MaxTTL, and replaced or removed
	// it. It is a trace of something broken that writes to the same key.
	Healed bool
	// Degraded says that Redis gave no answer, and that this one is by
	// [Options.Down]. Under FailLocal the other fields are of this process's
	// share; under FailOpen and FailClosed they are 0.
	Degraded bool
}

// The calls of an [Outcome].
const (
	CallAllow   = "allow"
	CallPeek    = "peek"
	CallReserve = "reserve"
	CallCommit  = "commit"
	CallCancel  = "cancel"
)

// Outcome is what became of a call, for [Options.Observe].
type Outcome struct {
	Call string // one of the constants
	// Result is the decision, empty where Err says that there is none. Of a
	// commit and a cancel only Healed is set.
	Result Result
	// Err is what the call returned, or why Result is Degraded. It names no
	// key and no subject.
	Err error
}

// decision is the answer of the script decide, for all windows together.
func (l *Limiter) decision(reply []any) (result Result, ok bool) {
	if short := len(reply) == 2 && len(l.windows) == 1; !short && len(reply) != 2+4*len(l.windows) {
		return Result{}, false
	}
	ok = true
	number := func(i int) int64 {
		n, isNumber := reply[i].(int64)
		ok = ok && isNumber
		return n
	}
	if len(reply) == 2 {
		result.Allowed, result.Limit, result.Remaining = true, l.windows[0].limit, number(0)
		result.ResetAfter = time.Duration(number(1)) * time.Millisecond
		return result, ok
	}
	result.Allowed, result.Healed = number(0) == 1, number(1) == 1
	for i, w := range l.windows {
		if left := number(2 + 4*i); i == 0 || left < result.Remaining {
			result.Limit, result.Remaining = w.limit, left
		}
		if wait := number(3 + 4*i); !result.Allowed {
			result.RetryAfter = max(result.RetryAfter, time.Duration(wait)*time.Millisecond)
		}
		result.ResetAfter = max(result.ResetAfter, time.Duration(number(4+4*i))*time.Millisecond)
	}
	return result, ok
}

// marks are what the answer says of a reservation, one a window.
func (l *Limiter) marks(reply []any) []any {
	marks := make([]any, len(l.windows))
	for i := range marks {
		marks[i] = reply[5+4*i]
	}
	return marks
}

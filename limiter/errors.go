package limiter

import "errors"

// What a constructor refuses. Nothing was sent to the server.
var (
	// ErrLimit is a limit or capacity below 1 or above MaxLimit.
	ErrLimit = errors.New("limit out of range")
	// ErrWindow is a window or period below MinWindow, above MaxWindow, or with
	// a fraction of a millisecond.
	ErrWindow = errors.New("window out of range")
	// ErrRate is a token bucket that gives back nothing, more than MaxRefill at
	// a time, takes longer than MaxWindow to fill, or needs larger numbers than
	// a script can count.
	ErrRate = errors.New("rate out of range")
	// ErrPrefix is a key prefix with a brace, which would move the hash tag.
	ErrPrefix = errors.New("prefix with a brace")
	// ErrPolicies is no policy at all, one that is nil, or two that would share a
	// key.
	ErrPolicies = errors.New("no policies, one that is nil, or two of one name")
	// ErrClient is a client that is nil.
	ErrClient = errors.New("no client")
	// ErrDown is no choice, or no known one, of what holds while Redis is down.
	ErrDown = errors.New("not said what holds while Redis is down")
	// ErrShare is a local share that is no number above 0 and up to 1, or one
	// that is given without FailLocal.
	ErrShare = errors.New("local share out of range")
)

// What a call refuses. Nothing was sent to the server.
var (
	// ErrSubject is an empty subject: in practice a caller whose identity got
	// lost, who would share one limit with all the others like him.
	ErrSubject = errors.New("empty subject")
	// ErrCost is a number of calls below 1 or above the limit, or one to commit
	// that is below 0 or above what was reserved.
	ErrCost = errors.New("cost out of range")
	// ErrSettled is a second Commit or Cancel of a reservation, or one of a
	// reservation that was refused.
	ErrSettled = errors.New("no reservation, or settled before")
)

// What a call finds in the key. It is not touched, unless [Options.Replace]
// says so: who owns it is for a person to find out.
var (
	// ErrWrongType is a key of another type than string.
	ErrWrongType = errors.New("the key is of another type")
	// ErrUnreadable is a string that is no state of the policy.
	ErrUnreadable = errors.New("the key holds no state of the policy")
)

// errReply is an answer of a script that this version of it never gives.
var errReply = errors.New("unexpected answer of the script")

// isAny is errors.Is for several.
func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

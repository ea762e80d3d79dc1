package limiter

import "errors"

// What a constructor refuses. Nothing was sent to the server.
var (
	// ErrLimit is a limit below 1 or above MaxLimit.
	ErrLimit = errors.New("limit out of range")
	// ErrWindow is a window below MinWindow, above MaxWindow, or with a
	// fraction of a millisecond.
	ErrWindow = errors.New("window out of range")
	// ErrPrefix is a key prefix with a brace, which would move the hash tag.
	ErrPrefix = errors.New("prefix with a brace")
)

// What a call refuses. Nothing was sent to the server.
var (
	// ErrSubject is an empty subject: in practice a caller whose identity got
	// lost, who would share one limit with all the others like him.
	ErrSubject = errors.New("empty subject")
	// ErrCost is a number of calls below 1 or above the limit.
	ErrCost = errors.New("cost out of range")
)

// What a call finds in the key. Nothing was written; who owns the key is for
// a person to find out, so it is not replaced.
var (
	// ErrWrongType is a key of another type than the policy's.
	ErrWrongType = errors.New("the key is of another type")
	// ErrNotACount is a string that is not a whole number as Redis writes it.
	ErrNotACount = errors.New("the key holds no count")
)

// errReply is an answer of a script that this version of it never gives.
var errReply = errors.New("unexpected answer of the script")

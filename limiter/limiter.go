package limiter

import (
	"context"
	"time"
)

// Limiter decides whether a subject may make another call. A subject is any
// name that is limited on its own: a user, an address, an API key. It may hold
// any bytes and must not be empty ([ErrSubject]).
//
// A call that returns an error is no decision: its Result is the zero value,
// and whether to let the caller through is for the program to say. When the
// server answered with the error, nothing was written. When the connection
// failed, the call may have been counted; it is never counted without a TTL.
//
// All methods may be called from several goroutines.
type Limiter interface {
	// Allow is AllowN with n = 1.
	Allow(ctx context.Context, subject string) (Result, error)

	// AllowN asks for n calls at once and counts all of them or, when it
	// refuses, none. n is 1 to the limit; outside of that no wait would ever
	// help, and the error is ErrCost.
	//
	// Every key that it writes to has 0 < PTTL <= MaxTTL afterwards. A key in a
	// state that this package never writes (without TTL, with a TTL above
	// MaxTTL, with a count below zero) is replaced by a fresh one, which the
	// call is judged by and counted in: whom such a key had locked out gets in
	// at once. A key of another type is left alone, with ErrWrongType, and one
	// that holds no whole number, with ErrNotACount.
	AllowN(ctx context.Context, subject string, n int64) (Result, error)

	// Peek tells what Allow would answer now, without counting. It writes
	// nothing and creates nothing. Of a key that Allow would heal it reports
	// what Allow would then find, and Healed is false.
	Peek(ctx context.Context, subject string) (Result, error)

	// MaxTTL is the longest TTL that a key of this limiter can have, and so
	// the max TTL to give to the exporter for its keys.
	MaxTTL() time.Duration
}

// Result is one decision, as of the moment the server made it. Durations are
// whole milliseconds, by the server's clock.
type Result struct {
	// Allowed says that the call may go on. It was counted, unless it was
	// only peeked at.
	Allowed bool
	// Limit is the number of calls a window.
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
	// Healed says that this call found the key in a state that would have
	// kept it, or its caller out, for longer than MaxTTL, and replaced it.
	Healed bool
}

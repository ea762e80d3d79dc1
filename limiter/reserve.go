package limiter

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// Reservation is calls that are counted before the work is done: nobody else
// gets them meanwhile. One that is never settled, because the process died,
// ends by itself as every call does: with its window, or as the bucket fills.
type Reservation struct {
	// Result is the decision. If it is not Allowed, nothing was reserved and
	// there is nothing to settle.
	Result

	limiter *Limiter
	subject string
	n       int64
	marks   []any // when, as the scripts want it
	settled atomic.Bool
}

// Reserve is AllowN for work that is charged only when it succeeds, or whose
// cost is known only afterwards: n is the most that it can be.
//
//	r, err := l.Reserve(ctx, "alice", 20)
//	if err != nil || !r.Allowed { ... }
//	pages, err := recognize(document)
//	if err != nil {
//		return r.Cancel(ctx)
//	}
//	return r.Commit(ctx, pages)
//
// The errors are those of AllowN.
func (l *Limiter) Reserve(ctx context.Context, subject string, n int64) (*Reservation, error) {
	result, reply, err := l.ask(ctx, CallReserve, subject, n)
	if err != nil {
		return nil, err
	}
	r := &Reservation{Result: result, limiter: l, subject: subject, n: n}
	if reply != nil {
		r.marks = l.marks(reply)
	} else {
		r.marks = slices.Repeat([]any{0}, len(l.windows)) // nothing is reserved in Redis
	}
	return r, nil
}

// Commit charges n of the reserved calls, 0 to all, and gives the others back.
// Where the window has ended since, or Redis was down at the reservation, there
// is nothing to give back: n is counted in the window that runs now, beyond its
// limit if need be, or opens one. (A token bucket has no end: what was reserved
// came back by itself, and nothing is charged again.) A reservation that Redis lost
// in a failover is given back all the same, from the calls of others.
//
// The error wraps ErrCost, ErrSettled, ErrWrongType or ErrUnreadable, or is why
// Redis did not answer: the reservation then counts in full. It is settled in
// any case, because to give back twice would allow more than the limit.
func (r *Reservation) Commit(ctx context.Context, n int64) error {
	if n < 0 || n > r.n {
		return fmt.Errorf("limiter: %w: %d is not 0 to the %d reserved", ErrCost, n, r.n)
	}
	return r.settle(ctx, CallCommit, n)
}

// Cancel gives all reserved calls back. Where the window has ended since, it
// does nothing. The errors are those of Commit.
func (r *Reservation) Cancel(ctx context.Context) error { return r.settle(ctx, CallCancel, 0) }

func (r *Reservation) settle(ctx context.Context, call string, n int64) error {
	if !r.Allowed || r.settled.Swap(true) {
		return fmt.Errorf("limiter: %w", ErrSettled)
	}
	l := r.limiter
	keys, err := l.names.of(r.subject)
	if err != nil {
		return err
	}
	args := append(l.arguments(r.n, n), r.marks...)
	reply, err := l.scripts.settle.run(ctx, l.client, keys, args)
	if err == nil && len(reply) != 1 {
		err = errReply
	}
	if err != nil {
		err = fmt.Errorf("limiter: %s: %w", call, err)
	}
	l.observe(Outcome{Call: call, Result: Result{Healed: err == nil && reply[0] == int64(1)}, Err: err})
	return err
}

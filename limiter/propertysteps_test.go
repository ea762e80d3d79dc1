// This file owns the steps of the property test.

package limiter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// step makes one step, and says whether it was a call that gave an answer.
func (r *propertyRun) step(ctx context.Context) (touched bool, err error) {
	switch n := r.random.IntN(100); {
	case n < 40:
		return r.decide(ctx, "allow", r.cost())
	case n < 47:
		_, err := r.decide(ctx, "peek", 1)
		return false, err
	case n < 57:
		return r.decide(ctx, "reserve", r.cost())
	case n < 67:
		return r.settle(ctx)
	case n < 80:
		return false, r.time()
	case n < 92:
		return false, r.plant(ctx)
	case n < 96:
		i := r.random.IntN(len(r.names))
		r.note("evict", i)
		r.keys[i] = noKey
		return false, r.client.Del(ctx, r.names[i]).Err()
	default:
		r.note("forget scripts")
		return false, r.client.ScriptFlush(ctx).Err()
	}
}

func (r *propertyRun) cost() int64 {
	least := r.limiters[0].least
	costs := []int64{1, 1, 1, 2, least, 1 + r.random.Int64N(least)}
	return min(costs[r.random.IntN(len(costs))], least)
}

// unreliable has the next call, if it is of that process, lost before or after
// the server's decision. It says whether it is lost, and whether before.
func (r *propertyRun) unreliable(process int) (lost, before bool) {
	r.lose.before, r.lose.after = false, false
	if process != 2 {
		return false, false
	}
	switch r.random.IntN(4) {
	case 0:
		r.note("lost before")
		r.lose.before = true
		return true, true
	case 1:
		r.note("lost after")
		r.lose.after = true
		return true, false
	}
	return false, false
}

func (r *propertyRun) decide(ctx context.Context, call string, n int64) (bool, error) {
	process := r.random.IntN(3)
	r.note(call, n, " by ", process)
	lost, before := r.unreliable(process)
	l := r.limiters[process]
	var got Result
	var err error
	var reservation *Reservation
	switch call {
	case "allow":
		got, err = l.AllowN(ctx, r.subject, n)
	case "peek":
		got, err = l.Peek(ctx, r.subject)
	default:
		if reservation, err = l.Reserve(ctx, r.subject, n); err == nil {
			got = reservation.Result
		}
	}
	want, marks, wantErr := r.down, slices.Repeat([]int64{0}, len(r.windows)), error(nil)
	if !before {
		want, marks, wantErr = r.model.decide(n, call == "peek")
	}
	if lost {
		want, marks, wantErr = r.down, slices.Repeat([]int64{0}, len(r.windows)), nil
	}
	if reservation != nil && got.Allowed {
		r.reserved = append(r.reserved, held{reservation, marks})
	}
	return wantErr == nil && !lost, same(got, err, want, wantErr)
}

func same(got Result, err error, want Result, wantErr error) error {
	if got != want || !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
		return fmt.Errorf("the answer is %+v, %w, want %+v, %w", got, err, want, wantErr)
	}
	return nil
}

func (r *propertyRun) settle(ctx context.Context) (bool, error) {
	if len(r.reserved) == 0 {
		return false, nil
	}
	i := r.random.IntN(len(r.reserved))
	h := r.reserved[i]
	r.reserved = slices.Delete(r.reserved, i, i+1)
	charged := []int64{0, h.n, r.random.Int64N(h.n + 1)}[r.random.IntN(3)]
	process := slices.Index(r.limiters, h.limiter)
	r.note("settle", charged, " of ", h.n, " by ", process)
	lost, before := r.unreliable(process)
	var err error
	if charged == 0 && r.random.IntN(2) == 0 {
		err = h.Cancel(ctx)
	} else {
		err = h.Commit(ctx, charged)
	}
	if again := h.Cancel(ctx); !errors.Is(again, ErrSettled) {
		return false, fmt.Errorf("a second settlement: %w", again)
	}
	want := errLost
	if !lost || !before {
		if wantErr := r.model.settle(h.n, charged, h.marks); !lost {
			want = wantErr
		}
	}
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		return false, fmt.Errorf("the settlement gives %w, want %w", err, want)
	}
	return err == nil, nil
}

// time moves the clock: by a moment, to about when something ends, far, back.
func (r *propertyRun) time() error {
	longest := r.limiters[0].MaxTTL()
	part := time.Duration(r.random.Int64N(int64(longest))).Truncate(time.Millisecond)
	moves := []time.Duration{time.Millisecond, part / 10, part, longest, 2 * longest, -part / 10, -part, -2 * longest}
	d := moves[r.random.IntN(len(moves))].Truncate(time.Millisecond)
	for _, k := range r.keys {
		if left := time.Duration(k.when-r.world.now/1000) * time.Millisecond; k.when != 0 && r.random.IntN(3) == 0 {
			d = left + time.Duration(r.random.IntN(3)-1)*time.Millisecond
		}
	}
	r.note("clock", d)
	return r.world.step(d)
}

// plant leaves in a key what anybody could have left there.
func (r *propertyRun) plant(ctx context.Context) error {
	i := r.random.IntN(len(r.names))
	name, w := r.names[i], r.windows[i]
	k := modelKey{kind: "string", value: r.value(w)}
	ttl := w.ttl
	switch r.random.IntN(5) {
	case 0:
		ttl = 0
	case 1:
		ttl = w.ttl<<r.random.IntN(12) + time.Millisecond
	case 2:
		ttl = time.Duration(1+r.random.Int64N(w.ttl.Milliseconds())) * time.Millisecond
	}
	if ttl > 0 {
		k.when = r.world.now/1000 + ttl.Milliseconds()
	}
	r.note("plant", i, " ", k, " ", ttl)
	pipe := r.client.TxPipeline()
	pipe.Del(ctx, name)
	if r.random.IntN(8) == 0 {
		k.kind, k.value = "list", ""
		pipe.RPush(ctx, name, "x")
		if ttl > 0 {
			pipe.PExpire(ctx, name, ttl)
		}
	} else {
		pipe.Set(ctx, name, k.value, ttl)
	}
	_, err := pipe.Exec(ctx)
	r.keys[i] = k
	if r.lastMoment != nil && r.random.IntN(8) == 0 {
		r.lastMoment(name)
		r.keys[i] = noKey // it is over
	}
	return err
}

// value is a value of the policy, or of another, or none at all.
func (r *propertyRun) value(w window) string {
	garbage := []string{"", "x", "1.5", "1e3", "0x10", "007", "-0", " 5", "5\n", "1:2", "1:2 3", "1:2  3:4 ", "2:1 1:1 ", "1:0 ", "1 2 3", "-1 5", "5 ", "nan inf"}
	if r.random.IntN(3) == 0 {
		return garbage[r.random.IntN(len(garbage))]
	}
	now := r.world.now
	switch w.policy {
	case "fixed":
		counts := []int64{0, 1, w.limit - 1, w.limit, w.limit + 1, -1, math.MinInt64, math.MaxInt64, -w.limit}
		return fmt.Sprint(counts[r.random.IntN(len(counts))])
	case "sliding":
		slice := now/w.a + int64(r.random.IntN(30)) - 20
		return fmt.Sprintf("%d:%d %d:%d ", slice, 1+r.random.Int64N(w.limit), slice+1+int64(r.random.IntN(4)), 1)
	}
	debts := []int64{0, 1, w.b, w.limit * w.b, 2 * w.limit * w.b, min(5*w.limit*w.b, MaxLimit), math.MaxInt64, r.random.Int64N(w.limit * w.b)}
	at := now + (r.random.Int64N(3)-1)*r.random.Int64N(w.ttl.Microseconds())
	return fmt.Sprintf("%d %d", debts[r.random.IntN(len(debts))], at)
}

package flawed

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// separateCheck is check-then-incr as it looks once it is called perfect: the
// check creates nothing, and the count is a script that also repairs. But the
// check is another command than the count, so all who come during the work of
// the first pass it. And the script is not reached when the check refuses: a
// key without TTL at the limit is never repaired.
type separateCheck struct {
	client redis.Cmdable
	Options
}

const separateCheckScript = `
local count = redis.call('INCR', KEYS[1])
if redis.call('TTL', KEYS[1]) == -1 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return count`

func separateCheckCase() Case {
	return Case{
		Name:   "separate-check",
		Story:  "an atomic, repairing count behind a separate check: everyone who passes the check in time is let through",
		Prefix: "quota:",
		Faults: []Fault{OverAdmits, Zombie, LocksOut},
		New:    func(c redis.Cmdable, o Options) Limiter { return &separateCheck{c, o} },
		Break:  breakSeparateCheck,
	}
}

// breakSeparateCheck has the last call that the limit allows arrive twice:
// while the first is at work, another passes the same check.
func breakSeparateCheck(ctx context.Context, c redis.Cmdable, o Options, subject string) error {
	other := &separateCheck{c, o.with(nil)}
	if err := call(ctx, other, subject, o.Limit-1); err != nil {
		return err
	}
	meanwhile := func(ctx context.Context, _ Step) error { return call(ctx, other, subject, 1) }
	return call(ctx, &separateCheck{c, o.with(meanwhile)}, subject, 1)
}

// Allow implements [Limiter].
func (l *separateCheck) Allow(ctx context.Context, subject string) (bool, error) {
	key := separateCheckCase().Key(subject)
	count, err := l.client.Get(ctx, key).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	if count >= l.Limit {
		return false, nil
	}
	if err := l.after(ctx, StepWork, key); err != nil {
		return false, err
	}
	if err := l.client.Eval(ctx, separateCheckScript, []string{key}, l.seconds()).Err(); err != nil {
		return false, err
	}
	return true, nil
}

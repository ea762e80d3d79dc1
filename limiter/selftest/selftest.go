// This file owns the run: its lease, the order of the checks, and that nothing
// stays. The checks are in checks.go.

package selftest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/limiter"
)

const (
	// DefaultPrefix starts the keys of a self-test that is given no prefix.
	DefaultPrefix = "keyhealth-selftest"
	// Callers is how many call at the same moment.
	Callers = 50
	// lease is how long a run may take; it ends before.
	lease = time.Minute
	// cleanup is how long it may take to remove the keys after that.
	cleanup = 5 * time.Second
	// window is long enough not to end during a run.
	window = 10 * time.Minute
)

// Options are those of a run.
type Options struct {
	// Prefix starts every key. Nothing else may use it. Default: DefaultPrefix.
	Prefix string
}

// The names of the checks.
const (
	CheckExactLimit = "exact_limit" // as many calls pass as the limit says, of Callers at once
	CheckTTL        = "ttl"         // a sound TTL after every kind of call
	CheckHealing    = "healing"     // a planted key without TTL is replaced
	CheckCleanup    = "cleanup"     // no key of the self-test is left
)

// CheckNames are those of all checks, in their order.
func CheckNames() []string { return []string{CheckExactLimit, CheckTTL, CheckHealing, CheckCleanup} }

// Check is what came out of one of them.
type Check struct {
	Name   string
	Passed bool
	Detail string // why not; empty if it passed. It names no key.
}

// Report is what a run found.
type Report struct {
	// Busy says that another run has the lease: nothing was checked, and that
	// is no failure.
	Busy   bool
	Checks []Check
	// Warning says what is not broken but will surprise: an eviction policy
	// that can take keys of the limiter away. Empty if there is none.
	Warning string
}

// Passed says whether all checks have passed; of none, they have.
func (r Report) Passed() bool {
	for _, c := range r.Checks {
		if !c.Passed {
			return false
		}
	}
	return true
}

// Run makes the checks, in less than a minute. The error is one of the server
// or the context that kept it from coming to the end; the report has the checks
// that were made.
func Run(ctx context.Context, c redis.UniversalClient, o Options) (report Report, err error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	r, err := newRun(c, o.Prefix)
	if err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lease-cleanup)
	defer cancel()
	owner := rand.Text()
	leased, err := c.SetNX(ctx, o.Prefix+":lease", owner, lease).Result()
	if err != nil || !leased {
		return Report{Busy: err == nil}, wrap(err)
	}
	defer func() {
		// Also after the context has ended: its values are kept, its end is not.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
		defer cancel()
		cleaned := r.clean(ctx)
		report.Checks = append(report.Checks, verdict(CheckCleanup, cleaned))
		err = errors.Join(err, release(ctx, c, o.Prefix+":lease", owner))
	}()
	if err := r.clean(ctx); err != nil { // of a run that was killed
		return report, wrap(err)
	}
	for _, check := range r.checks() {
		found := check.run(ctx)
		if ctx.Err() != nil {
			return report, wrap(ctx.Err())
		}
		report.Checks = append(report.Checks, verdict(check.name, found))
	}
	report.Warning, err = evictionWarning(ctx, c)
	return report, wrap(err)
}

func verdict(name string, err error) Check {
	if err != nil {
		return Check{Name: name, Detail: err.Error()}
	}
	return Check{Name: name, Passed: true}
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	return nil
}

// release gives the lease back, if it is still this run's.
func release(ctx context.Context, c redis.Cmdable, key, owner string) error {
	const script = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	return wrap(c.Eval(ctx, script, []string{key}, owner).Err())
}

// run is what the checks work with: a limiter of each policy.
type run struct {
	client   redis.UniversalClient
	options  limiter.Options
	limiters map[string]limited
	keys     []string // all that a run uses
}

type limited struct {
	*limiter.Limiter
	policy limiter.Policy
}

// The subjects of the checks.
const (
	crowd  = "crowd"
	calls  = "calls"
	zombie = "zombie"
)

// limit is the calls a window of the limiters: a fifth of what Callers ask for.
const limit = 20

func newRun(c redis.UniversalClient, prefix string) (*run, error) {
	r := &run{client: c, options: limiter.Options{Prefix: prefix, Down: limiter.FailClosed}, limiters: map[string]limited{}}
	for name, policy := range map[string]limiter.Policy{
		"fixed window":   limiter.FixedWindow{Limit: limit, Window: window},
		"sliding window": limiter.SlidingWindow{Limit: limit, Window: window},
		"token bucket":   limiter.TokenBucket{Capacity: limit, Refill: 1, Every: window},
	} {
		l, err := limiter.New(c, r.options, policy)
		if err != nil {
			return nil, wrap(err)
		}
		r.limiters[name] = limited{l, policy}
		for _, subject := range []string{crowd, calls, zombie} {
			keys, err := l.Keys(subject)
			if err != nil {
				return nil, wrap(err)
			}
			r.keys = append(r.keys, keys...)
		}
	}
	return r, nil
}

// clean removes the keys and looks that they are gone. One at a time: they are
// in several slots of a Cluster.
func (r *run) clean(ctx context.Context) error {
	for _, key := range r.keys {
		if err := r.client.Del(ctx, key).Err(); err != nil {
			return err
		}
		switch n, err := r.client.Exists(ctx, key).Result(); {
		case err != nil:
			return err
		case n != 0:
			return errors.New("a key is left")
		}
	}
	return nil
}

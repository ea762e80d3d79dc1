// One run of the limiter's self-test on a target, and why Redis did not let it
// come to its end. Who asks for it is selftest.go and selftesttask.go.

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/collector"
	"keyhealth/collector/source"
	"keyhealth/limiter/selftest"
)

// connect makes the client of a run.
type connect func(context.Context) (redis.UniversalClient, error)

// selfTested is what came of a run.
type selfTested struct {
	selftest.Report
	ended time.Time
	took  time.Duration
	err   error // what kept the checks from being made, or from meaning anything
}

// selfTestGrace is what a run has to remove its keys after its context has ended:
// less than stopTime.
const selfTestGrace = 3 * time.Second

// runSelfTest runs it on a connection of its own, and leaves no key, also when
// ctx ends; unless Redis hangs by then, and what is left ends with its TTL. Such a
// run is left behind, until the client gives up.
func runSelfTest(ctx context.Context, dial connect) selfTested {
	done := make(chan selfTested, 1)
	go func() { done <- makeSelfTest(ctx, dial) }()
	select {
	case tested := <-done:
		return tested
	case <-ctx.Done():
	}
	select {
	case tested := <-done:
		return tested
	case <-time.After(selfTestGrace):
		return selfTested{err: ctx.Err()}
	}
}

func makeSelfTest(ctx context.Context, dial connect) selfTested {
	started := time.Now()
	report, err := func() (selftest.Report, error) {
		client, err := dial(ctx)
		if err != nil {
			return selftest.Report{}, err
		}
		defer func() { _ = client.Close() }()
		seen := &failures{}
		client.AddHook(seen)
		report, err := selftest.Run(ctx, client, selftest.Options{})
		if err == nil {
			err = seen.first() // the limiter takes it for a Redis that is down
		}
		return report, err
	}()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	ended := time.Now()
	return selfTested{report, ended, ended.Sub(started), err}
}

// outcome is a result for the metrics: what was not checked has not passed.
func (s selfTested) outcome() collector.SelfTest {
	result := collector.SelfTest{Ended: s.ended, Took: s.took}
	for _, name := range selftest.CheckNames() {
		passed := false
		for _, check := range s.Checks {
			passed = passed || check.Name == name && check.Passed
		}
		result.Checks = append(result.Checks, collector.SelfTestCheck{Name: name, Passed: passed})
	}
	return result
}

// failures notes what Redis did not answer to, or refused; it is a redis.Hook.
// What the server says about it may name a user or a key, and goes no further.
type failures struct {
	mu    sync.Mutex
	noted error
}

func (f *failures) first() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noted
}

func (f *failures) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *failures) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f *failures) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err == nil || errors.Is(err, redis.Nil) {
			return err
		}
		err = withoutText(err, cmd.Name())
		cmd.SetErr(err)
		if cmd.Name() != "info" && !errors.Is(err, reply("NOSCRIPT")) { // INFO tells the eviction policy only
			f.mu.Lock()
			f.noted = firstOf(f.noted, err)
			f.mu.Unlock()
		}
		return err
	}
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// withoutText is the error of a command in words that are not the server's.
func withoutText(err error, command string) error {
	for _, code := range []string{"NOSCRIPT", "WRONGTYPE", "UNREADABLE", "BADARGUMENT"} { // what the limiter asks for
		if redis.HasErrorPrefix(err, code) {
			return reply(code)
		}
	}
	switch {
	case redis.HasErrorPrefix(err, "NOPERM"):
		return refused(command)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	return source.FailureOf(err)
}

// reply is an answer of Redis of which only the code is left; it is a redis.Error.
type reply string

func (r reply) Error() string { return string(r) }

// RedisError implements redis.Error.
func (reply) RedisError() {}

// selfTestPermissions is the advice to who refuses it.
const selfTestPermissions = nameSelfTest + "=1h keyhealth acl prints what its user needs"

// refused is the command that Redis permits this user not; it is a redis.Error.
type refused string

func (r refused) Error() string {
	return fmt.Sprintf("NOPERM: Redis refuses %s, or one in its script, under the self-test's prefix: %s", strings.ToUpper(string(r)), selfTestPermissions)
}

// RedisError implements redis.Error.
func (refused) RedisError() {}

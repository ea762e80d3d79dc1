// This file owns the examples of the documentation, which run on a server in
// memory.

package limiter_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"keyhealth/limiter"
)

// server stands in for the Redis of the examples.
func server() (*redis.Client, func()) {
	m, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	client := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: -1})
	return client, func() {
		_ = client.Close()
		m.Close()
	}
}

// made spares the examples an error that they could only print.
func made(l *limiter.Limiter, err error) *limiter.Limiter {
	if err != nil {
		panic(err)
	}
	return l
}

func Example() {
	client, closeServer := server()
	defer closeServer()

	l, err := limiter.New(client, limiter.Options{Down: limiter.FailClosed},
		limiter.FixedWindow{Limit: 2, Window: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		result, err := l.Allow(context.Background(), "alice")
		switch {
		case err != nil:
			fmt.Println("no decision:", err)
		case result.Degraded:
			fmt.Println("503: Redis is down, and the limit protects a login")
		case !result.Allowed:
			fmt.Println("429, Retry-After:", result.RetryAfter)
		default:
			fmt.Println("allowed,", result.Remaining, "left")
		}
	}
	// Output:
	// allowed, 1 left
	// allowed, 0 left
	// 429, Retry-After: 1m0s
}

// A key without TTL, as a broken limiter leaves it, locks its caller out for
// ever. The first call of this one lets him in.
func Example_healed() {
	client, closeServer := server()
	defer closeServer()
	ctx := context.Background()

	l := made(limiter.New(client, limiter.Options{Down: limiter.FailClosed}, limiter.FixedWindow{Limit: 50, Window: time.Minute}))
	keys, err := l.Keys("alice")
	if err != nil {
		fmt.Println(err)
		return
	}
	client.Set(ctx, keys[0], 2147483648, 0)

	result, err := l.Allow(ctx, "alice")
	fmt.Println(result.Allowed, result.Remaining, result.Healed, err)
	fmt.Println(keys[0], "has the TTL", client.TTL(ctx, keys[0]).Val())
	// Output:
	// true 49 true <nil>
	// keyhealth:{alice}:fixed:60s has the TTL 1m0s
}

// Two windows at once: a call is counted in both or, refused by either, in none.
func ExampleNew_severalWindows() {
	client, closeServer := server()
	defer closeServer()
	ctx := context.Background()

	l := made(limiter.New(client, limiter.Options{Down: limiter.FailOpen},
		limiter.FixedWindow{Limit: 3, Window: time.Minute},
		limiter.FixedWindow{Limit: 5, Window: 24 * time.Hour}))
	for _, n := range []int64{2, 2, 1} {
		result, err := l.AllowN(ctx, "alice", n)
		fmt.Println(result.Allowed, result.Remaining, "of", result.Limit, err)
	}
	// Output:
	// true 1 of 3 <nil>
	// false 1 of 3 <nil>
	// true 0 of 3 <nil>
}

// Text recognition that is charged by the page, and only when it succeeds.
func ExampleLimiter_Reserve() {
	client, closeServer := server()
	defer closeServer()
	ctx := context.Background()

	l := made(limiter.New(client, limiter.Options{Down: limiter.FailClosed}, limiter.FixedWindow{Limit: 50, Window: time.Minute}))
	recognize := func(document string, most, pages int64) error {
		r, err := l.Reserve(ctx, "alice", most)
		if err != nil || !r.Allowed {
			return errors.Join(err, errors.New("too frequent"))
		}
		if document == "blank" {
			return r.Cancel(ctx)
		}
		return r.Commit(ctx, pages)
	}
	for _, document := range []string{"letter", "blank", "book"} {
		if err := recognize(document, 20, 7); err != nil {
			fmt.Println(document, err)
		}
		result, err := l.Peek(ctx, "alice")
		fmt.Println(document, result.Remaining, err)
	}
	// Output:
	// letter 43 <nil>
	// blank 43 <nil>
	// book 36 <nil>
}

// While Redis is down each of four processes allows a quarter of the limit, and
// says so.
func ExampleOptions_failLocal() {
	client, closeServer := server()
	closeServer() // down

	l := made(limiter.New(client, limiter.Options{
		Down:       limiter.FailLocal,
		LocalShare: 1.0 / 4,
		Observe: func(o limiter.Outcome) {
			fmt.Println("observed:", o.Call, o.Result.Allowed, o.Result.Degraded, o.Err != nil)
		},
	}, limiter.FixedWindow{Limit: 4, Window: time.Hour}))
	for range 2 {
		result, err := l.Allow(context.Background(), "alice")
		fmt.Println(result.Allowed, result.Degraded, err)
	}
	// Output:
	// observed: allow true true true
	// true true <nil>
	// observed: allow false true true
	// false true <nil>
}

func ExampleLimiter_AllowN() {
	client, closeServer := server()
	defer closeServer()

	l := made(limiter.New(client, limiter.Options{Down: limiter.FailClosed}, limiter.SlidingWindow{Limit: 10, Window: time.Hour}))
	for _, pages := range []int64{8, 5, 2, 11} {
		result, err := l.AllowN(context.Background(), "alice", pages)
		if errors.Is(err, limiter.ErrCost) {
			fmt.Println(pages, "pages can never be allowed")
			continue
		}
		fmt.Println(pages, "pages:", result.Allowed, result.Remaining)
	}
	// Output:
	// 8 pages: true 2
	// 5 pages: false 2
	// 2 pages: true 0
	// 11 pages can never be allowed
}

func ExampleLimiter_Peek() {
	client, closeServer := server()
	defer closeServer()
	ctx := context.Background()

	l := made(limiter.New(client, limiter.Options{Down: limiter.FailClosed}, limiter.TokenBucket{Capacity: 5, Refill: 1, Every: time.Second}))
	result, err := l.Peek(ctx, "alice")
	fmt.Println(result.Allowed, result.Remaining, err)
	fmt.Println(client.DBSize(ctx).Val(), "keys")
	// Output:
	// true 5 <nil>
	// 0 keys
}

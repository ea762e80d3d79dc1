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
	client := redis.NewClient(&redis.Options{Addr: m.Addr()})
	return client, func() {
		_ = client.Close()
		m.Close()
	}
}

func Example() {
	client, closeServer := server()
	defer closeServer()

	l, err := limiter.NewFixedWindow(client, limiter.FixedWindowConfig{Limit: 2, Window: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		result, err := l.Allow(context.Background(), "alice")
		if err != nil {
			fmt.Println("no decision:", err)
			return
		}
		if !result.Allowed {
			fmt.Println("refused, retry after", result.RetryAfter)
			continue
		}
		fmt.Println("allowed,", result.Remaining, "left")
	}
	// Output:
	// allowed, 1 left
	// allowed, 0 left
	// refused, retry after 1m0s
}

// A key without TTL, as a broken limiter leaves it, locks its caller out for
// ever. The first call of this one lets him in.
func Example_healed() {
	client, closeServer := server()
	defer closeServer()
	ctx := context.Background()

	l, err := limiter.NewFixedWindow(client, limiter.FixedWindowConfig{Limit: 50, Window: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := l.Key("alice")
	if err != nil {
		fmt.Println(err)
		return
	}
	client.Set(ctx, key, 2147483648, 0)

	result, err := l.Allow(ctx, "alice")
	fmt.Println(result.Allowed, result.Remaining, result.Healed, err)
	fmt.Println(key, "has the TTL", client.TTL(ctx, key).Val())
	// Output:
	// true 49 true <nil>
	// keyhealth:{alice}:fixed:60s has the TTL 1m0s
}

func ExampleFixedWindow_AllowN() {
	client, closeServer := server()
	defer closeServer()

	l, err := limiter.NewFixedWindow(client, limiter.FixedWindowConfig{Limit: 10, Window: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
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

func ExampleFixedWindow_Peek() {
	client, closeServer := server()
	defer closeServer()
	ctx := context.Background()

	l, err := limiter.NewFixedWindow(client, limiter.FixedWindowConfig{Limit: 5, Window: time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := l.Peek(ctx, "alice")
	fmt.Println(result.Allowed, result.Remaining, err)
	fmt.Println(client.DBSize(ctx).Val(), "keys")
	// Output:
	// true 5 <nil>
	// 0 keys
}

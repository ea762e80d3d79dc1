// Package limiter is a rate limiter in Redis that cannot leave a key without TTL.
//
// [NewFixedWindow] makes one; [Limiter] is what every policy here can do and
// the specification of it:
//
//	l, err := limiter.NewFixedWindow(client, limiter.FixedWindowConfig{Limit: 50, Window: time.Minute})
//	...
//	result, err := l.Allow(ctx, "alice")
//
// A decision is one Lua script over one key. Arguments are checked before the
// first write, and the clock is the server's. So every key that a call wrote
// to has a TTL above 0 and at most MaxTTL afterwards, whatever the key held
// before. What a broken limiter left behind under the same name is repaired by
// the first call that meets it ([Result.Healed]).
//
// The package flawed below it holds the limiters that people write instead,
// and what becomes of them.
package limiter

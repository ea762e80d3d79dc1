// Package limiter is a rate limiter in Redis that cannot leave a key without TTL.
//
// [New] makes one, from a policy ([FixedWindow], [SlidingWindow], [TokenBucket])
// or several at once, and from what shall hold while Redis is down. The two
// methods to use are [Limiter.Allow] and, for work that is charged only when it
// succeeds, [Limiter.Reserve]:
//
//	l, err := limiter.New(client, limiter.Options{Down: limiter.FailClosed},
//		limiter.FixedWindow{Limit: 50, Window: time.Minute})
//	...
//	result, err := l.Allow(ctx, "alice")
//
// A decision is one Lua script over one key for each policy. Arguments are
// checked before the first write, and the clock is the server's. So every key
// that a call met has a TTL above 0 and at most MaxTTL afterwards, or is gone,
// whatever it held before. What a broken limiter left behind under the same name
// is repaired by the first call that meets it ([Result.Healed]).
//
// The package selftest below it asks a server whether all that holds on it. The
// package flawed holds the limiters that people write instead, and what becomes
// of them.
package limiter

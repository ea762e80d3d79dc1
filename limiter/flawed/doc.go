// Package flawed holds rate limiters that are broken, on purpose and for good.
//
// Each is what people write, in a file of its own, with a [Hook] between its
// commands: a test or a demonstration stops there and brings about what
// happens in production once in a million calls. [All] lists them:
//
//	for _, c := range flawed.All() {
//		err := c.Break(ctx, client, flawed.Options{Limit: 5, Window: time.Minute}, "alice")
//		// c.Key("alice") is now as the fault leaves it.
//	}
//
// README.md beside this file tells the stories. Nothing here is to be used, or
// to be repaired: the tests fail when a flaw is gone. The limiter to use is
// the package above.
package flawed

// Package redistest starts real redis-server processes for tests, on free
// loopback ports, and puts a misbehaving network in front of them.
//
// The two functions to use are [Start], which gives a server that answers and
// that is stopped when the test ends, and [StartProxy], which adds latency to
// it, cuts its connections or refuses new ones:
//
//	s := redistest.Start(t, "--maxmemory", "64mb")
//	redistest.Fill(t, s, `for i = 1, ARGV[1] do redis.call('SET', 'k:' .. i, 1) end`, 10000)
//	p := redistest.StartProxy(t, s.Addr())
//	p.SetDelay(50 * time.Millisecond)
//
// [StartCluster] makes several servers a Redis Cluster, whose slots a [Mover] moves.
// An [Authority] signs the certificates of servers that speak TLS and nothing else.
//
// [Run] repeats a test against every server that TEST_KEYHEALTH_SERVERS lists,
// and [Require] decides what happens where a program is missing: a skip on a
// laptop, a failure under `make test` and in CI.
//
// Everything that is started here ends in a cleanup of the test. A package
// that uses it checks for leaks with goleak.VerifyTestMain, which runs after
// the cleanups, and not with goleak.VerifyNone inside the test.
package redistest

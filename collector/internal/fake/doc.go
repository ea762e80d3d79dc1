// Package fake is a scripted Redis for the tests of a sweep: a [Node] with keys in
// tables that SCAN walks as Redis walks its own, which can fail, hang or change at
// any command; and the clock and the target that these tests begin with. It is for
// tests only.
package fake

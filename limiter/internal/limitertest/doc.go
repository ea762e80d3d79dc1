// Package limitertest holds the scenario that a sound limiter passes and each
// of the broken ones does not.
//
// [Run] puts a limiter through it on a [Server], real or miniredis, and says
// which faults it saw. The hooks of a broken limiter are used to interrupt it
// at every step; a sound one has none and is interrupted between its calls.
// Nothing here waits for time to pass.
package limitertest

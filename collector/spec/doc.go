// Package spec holds what a target is and how it is to be swept, as plain values; only
// a [TLS] reads its files. Begin with [Target] and its [Sweep]. Where they come from
// (environment, file, flags) is not told here, and what the groups of a target mean is
// package classify's.
package spec

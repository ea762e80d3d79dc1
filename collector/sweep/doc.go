// Package sweep passes over the keys of a target. Begin with [Fleet], which sweeps the
// nodes of a target at the same time, and with sweep.go, the way of one node: a walk
// (walk.go) meets every key, a sample (sample.go) a random part, and what was seen is
// looked at again (confirm.go). It puts the other packages together; when a sweep
// begins, and what becomes of its [Result], is for others to say.
package sweep

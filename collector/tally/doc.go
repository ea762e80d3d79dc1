// Package tally counts the keys that a sweep meets, group by group. A [Counting] puts
// each key into the [Group] it belongs to in its [Database], and into the [Draw]s of
// names that are to be looked at again; a [Tree] finds the groups that nobody has
// described. Nothing is scaled here: that is package estimate.
package tally

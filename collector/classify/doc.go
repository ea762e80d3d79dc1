// Package classify says which group a key belongs to by its name, and what is known
// of that group beforehand. A [Classifier] finds the group among the user's [Rule]s
// and the [Preset]s of presets.yaml, and its [Definition] says which TTL is too long,
// which key is a leak, and whether a zombie locks its caller out. What else a name
// tells is here too: ids, times, windows, and the shape by which groups are
// discovered. No Redis, no clock.
package classify

// Package estimate says what counts come to: how many keys of each group there are in
// all, how many of them are zombies, and how sure that is. Begin with [Figures], which
// adds up what the nodes' sweeps [Counted]. docs/statistics.md has the formulae in
// words. No Redis, no clock: what the time was is an argument.
package estimate

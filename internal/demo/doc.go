// Package demo is a Redis in memory with limiters at work on it, some of them
// broken: [Start] it, run it, and watch it like any other target. Its own INFO
// says that it is no real server.
package demo

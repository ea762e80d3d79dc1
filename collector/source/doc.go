// Package source is Redis as a sweep sees it: the only package that speaks to a
// server. A [Node] is one server, to which a [Conn] is a connection; a [Topology]
// finds the nodes of a target. An [Info] is what a server says of itself, and a
// [Failure] why it does not.
//
// source.go and the files beside it that use the client library send the commands,
// which docs/permissions.md lists. Nothing here decides anything about keys.
package source

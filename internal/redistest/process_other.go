//go:build !linux

package redistest

import "syscall"

// dieWithParent has no counterpart here: after a panic or a test timeout the
// server stays until it is ended by hand.
func dieWithParent() *syscall.SysProcAttr { return nil }

package redistest

import "syscall"

// dieWithParent makes the kernel kill the server when the test binary ends
// without its cleanups: a panic, a test timeout, an interrupt.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

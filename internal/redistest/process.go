// This file owns one server process: start, output, signals, end. It does not
// know ports, Redis or tests.

package redistest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a running program. done is closed once it has ended and been
// waited for, so that its pid is never signalled after that.
type process struct {
	cmd  *exec.Cmd
	out  tail
	done chan struct{}
}

// startProcess starts the program. One goroutine stays with it, locked to its
// thread: where the kernel can tie a child to its parent, it ties it to the
// thread that started it.
func startProcess(binary string, args []string) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.WaitDelay = time.Second // a forked saver may hold the output open
	p.cmd.SysProcAttr = dieWithParent()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in its output; a kill is not an error here
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	return p, nil
}

// signal sends sig; a process that has ended takes any signal in silence.
func (p *process) signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to process %d: %w", sig, p.cmd.Process.Pid, err)
	}
	return nil
}

// stop asks the process to end, kills it after grace, and waits for it. A
// frozen process is thawed first, because it would not see the request.
func (p *process) stop(grace time.Duration) {
	_ = p.signal(syscall.SIGCONT)
	_ = p.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.kill()
	}
}

// kill ends the process, frozen or not, and waits for it.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// freeze stops the process and returns once it stands still: the signal is
// taken a moment after it was sent.
func (p *process) freeze() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			return nil // no /proc on this system: the moment has to be trusted
		}
		// "pid (name) state ...", and the name may hold anything.
		if i := bytes.LastIndex(stat, []byte(") ")); i >= 0 && bytes.HasPrefix(stat[i+2:], []byte("T")) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not stop", p.cmd.Process.Pid)
		}
		time.Sleep(pollInterval)
	}
}

// tail keeps the last tailSize bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 8 << 10

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, b...)
	if extra := len(w.buf) - tailSize; extra > 0 {
		w.buf = append(w.buf[:0], w.buf[extra:]...)
	}
	return len(b), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.buf)
}

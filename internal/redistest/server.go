// This file owns a test's Redis server: how it is started, found and controlled.
// The process under it is process.go, its port port.go, its clients client.go.

package redistest

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startDeadline = 30 * time.Second
	stopGrace     = 10 * time.Second // what Stop and Restart leave for a last save
	cleanupGrace  = 2 * time.Second
	pollInterval  = 2 * time.Millisecond
	startAttempts = 10
)

// errAddressInUse: another process took the port between its choice and its use.
var errAddressInUse = errors.New("the port is taken")

// Server is a Redis process of a test. Its methods may be called from several
// goroutines; those that take t, from the goroutine of the test.
type Server struct {
	binary string
	args   []string
	port   int

	mu   sync.Mutex
	proc *process
}

// Start starts a standalone redis-server from the PATH and returns when it
// answers. It saves nothing and works in a directory of its own. args are
// appended to the command line ("--maxmemory", "64mb") and win over the
// defaults; args[0] may be a configuration file. The server is stopped when
// the test ends. Where redis-server is missing, see [Require].
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartBinary(t, defaultServer, args...)
}

// StartBinary is [Start] for the server of the given name or path.
func StartBinary(t testing.TB, binary string, args ...string) *Server {
	t.Helper()
	return start(t, reserve, binary, args)
}

// start tries ports from choose until the server gets one to itself.
func start(t testing.TB, choose func() (*reservation, error), binary string, args []string) *Server {
	t.Helper()
	s := &Server{binary: Require(t, binary)}
	dir := t.TempDir()
	for attempt := 1; ; attempt++ {
		r, err := choose()
		if err != nil {
			t.Fatalf("redistest: %v", err)
		}
		s.args, s.port = commandLine(r.port, dir, args)
		err = s.launch()
		if err == nil {
			t.Cleanup(r.release)
			t.Cleanup(func() { s.stop(cleanupGrace) })
			return s
		}
		r.release()
		chosenHere := s.port == r.port
		if !chosenHere || !errors.Is(err, errAddressInUse) || attempt == startAttempts {
			t.Fatalf("redistest: %v", err)
		}
	}
}

// commandLine puts args behind the defaults (a configuration file before them)
// and returns the port that results: the last --port wins, as in Redis.
func commandLine(port int, dir string, args []string) ([]string, int) {
	var line []string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		line, args = append(line, args[0]), args[1:]
	}
	line = append(line, "--port", strconv.Itoa(port), "--bind", host, "--save", "",
		"--appendonly", "no", "--daemonize", "no", "--dir", dir,
		"--repl-diskless-sync-delay", "0") // else a replica's first synchronisation begins 5 s late
	if option(args, tlsCertOption) != "" {
		line = append(line, "--port", "0", "--tls-port", strconv.Itoa(port))
		return append(line, args...), port
	}
	line = append(line, args...)
	if n, err := strconv.Atoi(option(line, "--port")); err == nil {
		port = n
	}
	return line, port
}

// option returns the value that the last use of name has, or "".
func option(args []string, name string) string {
	for i, arg := range slices.Backward(args) {
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// launch starts the process and waits until it answers.
func (s *Server) launch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := startProcess(s.binary, s.args)
	if err != nil {
		return err
	}
	if err := s.waitReady(p); err != nil {
		p.kill()
		err = fmt.Errorf("%s %s: %w; the end of its output:\n%s", s.binary, strings.Join(s.args, " "), err, p.out.String())
		if strings.Contains(p.out.String(), "Address already in use") {
			return errors.Join(errAddressInUse, err)
		}
		return err
	}
	s.proc = p
	return nil
}

func (s *Server) waitReady(p *process) error {
	deadline := time.Now().Add(startDeadline)
	last := errors.New("not tried")
	for time.Now().Before(deadline) {
		last = ping(s.Addr(), s.password(), s.clientTLS())
		select {
		case <-p.done: // checked after the ping too: the answer may be another server's
			return errors.New("ended at once")
		default:
		}
		if last == nil {
			return nil
		}
		time.Sleep(pollInterval)
	}
	return fmt.Errorf("no answer in %v: %w", startDeadline, last)
}

func (s *Server) stop(grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.stop(grace)
}

// Stop ends the server as an administrator does (SIGTERM) and waits for it.
// The port stays its own until the test ends.
func (s *Server) Stop() { s.stop(stopGrace) }

// Kill ends the server as a crash does (SIGKILL) and waits for it.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
}

// Restart stops the server if it runs and starts it again on the same port,
// in the same directory, with the same arguments.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	if err := s.launch(); err != nil {
		t.Fatalf("redistest: restart: %v", err)
	}
}

// Freeze stops the server's process (SIGSTOP): it still accepts connections, as
// far as the kernel does that, and answers nothing.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	if err := s.process().freeze(); err != nil {
		t.Fatalf("redistest: freeze: %v", err)
	}
}

// Thaw lets a frozen server go on (SIGCONT).
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	if err := s.process().signal(syscall.SIGCONT); err != nil {
		t.Fatalf("redistest: thaw: %v", err)
	}
}

func (s *Server) process() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// Addr is "127.0.0.1:port".
func (s *Server) Addr() string { return address(s.port) }

// Host is the address without its port.
func (s *Server) Host() string { return host }

// Port is the TCP port, the same for the life of the Server.
func (s *Server) Port() int { return s.port }

// URL is "redis://127.0.0.1:port", without credentials.
func (s *Server) URL() string { return "redis://" + s.Addr() }

// Pid is the process id of the latest start.
func (s *Server) Pid() int { return s.process().cmd.Process.Pid }

// Binary is the path of the program.
func (s *Server) Binary() string { return s.binary }

// password is what --requirepass set, if anything.
func (s *Server) password() string { return option(s.args, "--requirepass") }

var versionPattern = regexp.MustCompile(`\bv=(\S+)`)

// Version is what the program says of itself, such as "7.0.15". It asks the
// program and not the server, whose command statistics stay as they are.
func (s *Server) Version(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(s.binary, "--version").Output()
	m := versionPattern.FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("redistest: the version of %s: %q, %v", s.binary, out, err)
	}
	return string(m[1])
}

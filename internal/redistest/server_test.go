package redistest

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestStart(t *testing.T) {
	s, other := Start(t), Start(t)
	if s.Addr() == other.Addr() || s.Pid() == other.Pid() {
		t.Fatalf("two servers share %s or process %d", s.Addr(), s.Pid())
	}
	if want := "127.0.0.1:" + strconv.Itoa(s.Port()); s.Addr() != want {
		t.Errorf("Addr is %s, want %s", s.Addr(), want)
	}
	if want := "redis://" + s.Host() + ":" + strconv.Itoa(s.Port()); s.URL() != want {
		t.Errorf("URL is %s, want %s", s.URL(), want)
	}
	if !strings.Contains(s.Version(t), ".") {
		t.Errorf("Version is %q, want something like 7.0.15", s.Version(t))
	}
	info, err := s.Client(t).Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	if want := "process_id:" + strconv.Itoa(s.Pid()) + "\r\n"; !strings.Contains(info, want) {
		t.Errorf("the server that answers is not process %d:\n%s", s.Pid(), info)
	}
}

func TestStartArgumentsWin(t *testing.T) {
	port := FreePort(t)
	conf := filepath.Join(t.TempDir(), "redis.conf")
	if err := os.WriteFile(conf, []byte("hz 17\nmaxmemory 1mb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Start(t, conf, "--port", strconv.Itoa(port), "--save", "3600 1", "--maxmemory", "64mb", "--requirepass", "not a secret")
	if s.Port() != port {
		t.Errorf("Port is %d, want %d", s.Port(), port)
	}
	c := s.Client(t)
	for name, want := range map[string]string{"save": "3600 1", "maxmemory": strconv.Itoa(64 << 20), "hz": "17"} {
		got, err := c.ConfigGet(t.Context(), name).Result()
		if err != nil || got[name] != want {
			t.Errorf("%s is %q, want %q (%v)", name, got[name], want, err)
		}
	}
	anonymous := s.Client(t, func(o *redis.Options) { o.Password = "" })
	if err := anonymous.Ping(t.Context()).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("without the password: %v, want NOAUTH", err)
	}
}

func TestStartFailureShowsTheOutput(t *testing.T) {
	Require(t, defaultServer)
	r := record(t, func(tb testing.TB) { Start(tb, "--maxmemory-policy", "nonsense") })
	for _, want := range []string{"ended at once", "maxmemory-policy", "argument"} {
		if !strings.Contains(r.fatal, want) {
			t.Errorf("the failure lacks %q:\n%s", want, r.fatal)
		}
	}
}

func TestStartTriesAnotherPort(t *testing.T) {
	// The port is taken after it was chosen, twice.
	takes := 2
	choose := func() (*reservation, error) {
		r, err := reserve()
		if err != nil || takes == 0 {
			return r, err
		}
		takes--
		l, err := net.Listen("tcp", address(r.port))
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = l.Close() })
		return r, nil
	}
	s := start(t, choose, defaultServer, nil)
	if takes != 0 {
		t.Errorf("%d of the ports that were taken were not tried", takes)
	}
	if err := s.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestRestartKeepsPortDirectoryAndArguments(t *testing.T) {
	s := Start(t, "--save", "3600 1")
	c, addr, pid := s.Client(t), s.Addr(), s.Pid()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Restart(t)
	if s.Addr() != addr || s.Pid() == pid {
		t.Errorf("after the restart: %s, process %d; before: %s, process %d", s.Addr(), s.Pid(), addr, pid)
	}
	if got, err := s.Client(t).Get(t.Context(), "k").Result(); got != "v" || err != nil {
		t.Errorf("k is %q after a restart with --save, want v (%v)", got, err)
	}
}

func TestStopAndKill(t *testing.T) {
	for name, end := range map[string]func(*Server){"Stop": (*Server).Stop, "Kill": (*Server).Kill} {
		t.Run(name, func(t *testing.T) {
			s := Start(t)
			end(s)
			if conn, err := net.Dial("tcp", s.Addr()); err == nil {
				_ = conn.Close()
				t.Error("the server still accepts connections")
			}
			end(s) // again does nothing
			s.Restart(t)
			if err := s.Client(t).Ping(t.Context()).Err(); err != nil {
				t.Errorf("after the restart: %v", err)
			}
		})
	}
}

func TestFreezeAndThaw(t *testing.T) {
	s := Start(t)
	c := s.Client(t, func(o *redis.Options) {
		o.ReadTimeout, o.MaxRetries = 50*time.Millisecond, -1
	})
	s.Freeze(t)
	var timeout net.Error
	if err := c.Ping(t.Context()).Err(); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a frozen server answered: %v", err)
	}
	s.Thaw(t)
	if err := s.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Errorf("after the thaw: %v", err)
	}
	s.Freeze(t) // the cleanup has to cope
}

func TestFill(t *testing.T) {
	s := Start(t)
	const n = 100_000
	Fill(t, s, `for i = 1, ARGV[1] do redis.call('SET', ARGV[2] .. i, i) end`, n, "k:")
	if got, err := s.Client(t).DBSize(t.Context()).Result(); got != n || err != nil {
		t.Errorf("%d keys, want %d (%v)", got, n, err)
	}
	r := record(t, func(tb testing.TB) { Fill(tb, s, `return redis.error_reply('no reason')`) })
	if !strings.Contains(r.fatal, "no reason") {
		t.Errorf("a script that fails ended the test with %q", r.fatal)
	}
}

// TestServerDiesWithItsTest starts a server in a second test binary that ends
// without its cleanups, as after a panic or a timeout.
func TestServerDiesWithItsTest(t *testing.T) {
	const childEnv = "TEST_KEYHEALTH_ORPHAN"
	if os.Getenv(childEnv) != "" {
		s := Start(t)
		_, _ = os.Stdout.WriteString("addr " + s.Addr() + "\n")
		os.Exit(0)
	}
	if dieWithParent() == nil {
		t.Log("this system does not tie a process to its parent")
		return
	}
	Require(t, defaultServer)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childEnv+"=1", "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	var addr string
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		if after, ok := strings.CutPrefix(lines.Text(), "addr "); ok {
			addr = after
		}
	}
	if addr == "" {
		t.Fatalf("the second test binary says %q", out)
	}
	eventually(t, "the server is gone", func() bool { return ping(addr, "", nil) != nil })
}

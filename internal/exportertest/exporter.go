// The binary as a process: started on a free port, always stopped.

package exportertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Exporter is a running keyhealth process.
type Exporter struct {
	URL string // of its web server, without a path

	cmd    *exec.Cmd
	output string // a file: what is printed before a scrape is there after it
	ended  chan struct{}
	client *http.Client
}

// Settings are environment variables without their prefix KEYHEALTH_.
type Settings map[string]string

// listening is the log line that says where the server is.
var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// Start runs the binary on a free port of loopback until the test ends, and
// returns when it serves.
func Start(t testing.TB, settings Settings, args ...string) *Exporter {
	t.Helper()
	e := &Exporter{
		cmd:    exec.Command(Binary(t), args...),
		output: filepath.Join(t.TempDir(), "output"),
		ended:  make(chan struct{}),
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}},
	}
	e.cmd.Env = append(os.Environ(), "KEYHEALTH_WEB_LISTEN_ADDRESS=127.0.0.1:0")
	for name, value := range settings {
		e.cmd.Env = append(e.cmd.Env, "KEYHEALTH_"+name+"="+value)
	}
	output, err := os.Create(e.output)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }() // the process has its own
	e.cmd.Stdout, e.cmd.Stderr = output, output
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = e.cmd.Wait()
		close(e.ended)
	}()
	t.Cleanup(func() {
		_ = e.cmd.Process.Kill()
		<-e.ended
		e.client.CloseIdleConnections()
		if t.Failed() {
			t.Logf("keyhealth printed:\n%s", e.Output())
		}
	})
	e.eventually(t, "the web server", func() bool {
		found := listening.FindStringSubmatch(e.Output())
		if found != nil {
			e.URL = "http://" + found[1]
		}
		return found != nil
	})
	return e
}

// Output is all that the process has printed so far.
func (e *Exporter) Output() string {
	text, err := os.ReadFile(e.output)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Get fetches a path.
func (e *Exporter) Get(path string) (status int, body []byte, err error) {
	response, err := e.client.Get(e.URL + path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// Scrape reads /metrics.
func (e *Exporter) Scrape(t testing.TB) Metrics {
	t.Helper()
	status, body, err := e.Get("/metrics")
	if err != nil || status != http.StatusOK {
		t.Fatalf("scrape: status %d, error %v", status, err)
	}
	metrics, err := Parse(body)
	if err != nil {
		t.Fatalf("scrape: %v", err)
	}
	return metrics
}

// Wait scrapes until the metrics are as wanted, and answers them. It fails
// after two minutes, with what was wanted in its message.
func (e *Exporter) Wait(t testing.TB, wanted string, ok func(Metrics) bool) Metrics {
	t.Helper()
	var last Metrics
	e.eventually(t, wanted, func() bool {
		last = e.Scrape(t)
		return ok(last)
	})
	return last
}

// Sweeps waits until n sweeps have ended in all and the last one succeeded.
func (e *Exporter) Sweeps(t testing.TB, n float64) Metrics {
	t.Helper()
	return e.Wait(t, fmt.Sprintf("%v finished sweeps, the last one a success", n), func(m Metrics) bool {
		return m.Is("keyhealth_sweeps_total", ">=", n) && m.Is("keyhealth_sweep_success", "==", 1)
	})
}

func (e *Exporter) eventually(t testing.TB, wanted string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !ok() {
		select {
		case <-e.ended:
			t.Fatalf("keyhealth ended while waiting for %s:\n%s", wanted, e.Output())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited two minutes for %s", wanted)
		}
	}
}

// Terminate sends SIGTERM, and answers the exit code and how long it took.
func (e *Exporter) Terminate(t testing.TB) (code int, took time.Duration) {
	t.Helper()
	start := time.Now()
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-e.ended:
	case <-time.After(30 * time.Second):
		t.Fatal("keyhealth still runs 30 s after SIGTERM")
	}
	return e.cmd.ProcessState.ExitCode(), time.Since(start)
}

// Run runs the binary to its end, which must come within 30 s.
func Run(t testing.TB, settings Settings, args ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	cmd.Env = os.Environ()
	for name, value := range settings {
		cmd.Env = append(cmd.Env, "KEYHEALTH_"+name+"="+value)
	}
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("keyhealth: %v\n%s", err, text)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// output collects what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

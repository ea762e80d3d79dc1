package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program starts this test binary as keyhealth itself.
func program(t *testing.T) (*exec.Cmd, *logBuffer) {
	t.Helper()
	log := newLogBuffer()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), "TEST_KEYHEALTH_BE_MAIN=1",
		"KEYHEALTH_REDIS_URL=redis://127.0.0.1:1", "KEYHEALTH_WEB_LISTEN_ADDRESS=127.0.0.1:0")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, log
}

func TestSignals(t *testing.T) {
	setenv(t, nil)
	t.Run("one is a clean end", func(t *testing.T) {
		command, log := program(t)
		log.waitFor(t, listening)
		began := time.Now()
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %v: %s", err, time.Since(began), log)
		}
	})
	t.Run("two end it at once", func(t *testing.T) {
		command, log := program(t)
		address := log.waitFor(t, listening)[1]
		// A request whose body never comes keeps the first signal's shutdown waiting.
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
		if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(connection).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatal(line, err) // the handler waits for the body from now on
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		for {
			_ = command.Process.Signal(syscall.SIGTERM)
			select {
			case err := <-ended:
				if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != -1 {
					t.Errorf("got %v, want the end by a signal: %s", err, log)
				}
				return
			default:
			}
		}
	})
}

// TestHangupBeforeItServes: a SIGHUP that comes while the configuration is read
// waits until it can be followed.
func TestHangupBeforeItServes(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "web.yml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	setenv(t, map[string]string{"KEYHEALTH_WEB_CONFIG_FILE": fifo})
	command, log := program(t)
	writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)       // it would end here
	if err := os.Remove(fifo); err != nil { // it is read again later
		t.Fatal(err)
	}
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	log.waitFor(t, "The configuration is reloaded")
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("%v: %s", err, log)
	}
}

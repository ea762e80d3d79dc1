// What the tests of the server share: a service on a loopback port, a fake
// watcher, a log to wait on, a certificate.

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// stage is a service on a loopback port, for as long as a test runs.
type stage struct {
	service service
	address string
	log     *logBuffer
	client  *http.Client
	stop    func() error // ends the context, and returns what run returned
}

// newStage prepares a service; the test may change it before start.
func newStage(t *testing.T, env map[string]string) *stage {
	t.Helper()
	setenv(t, env)
	cfg, problems := load(flags{listenAddresses: []string{"127.0.0.1:0"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	listeners, failed := listen(t.Context(), cfg)
	if failed != nil {
		t.Fatal(failed)
	}
	log := newLogBuffer()
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &stage{
		service: service{
			listeners: listeners,
			metrics:   prometheus.NewRegistry(),
			cfg:       cfg,
			log:       newLogger(cfg, log),
			stopTime:  stopTime,
		},
		address: listeners[0].Addr().String(),
		log:     log,
		client:  &http.Client{Transport: transport, Timeout: patience},
	}
}

func (s *stage) start(t *testing.T) {
	t.Helper()
	s.stop = start(t, s.service.run)
}

// get returns the status and the body.
func (s *stage) get(t *testing.T, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.do(t, request)
}

func (s *stage) do(t *testing.T, request *http.Request) (int, string) {
	t.Helper()
	response, err := s.client.Do(request)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(body)
}

// writeCertificate makes a certificate for 127.0.0.1 that is its own authority.
func writeCertificate(t *testing.T) (certificateFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "test"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encodedKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	write := func(name, kind string, content []byte) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", certificate), write("key.pem", "PRIVATE KEY", encodedKey)
}

// start runs f until the test ends or stop is called; stop returns f's result.
func start(t *testing.T, f func(context.Context) error) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// fakeTask stands for a watcher.
type fakeTask struct {
	ready atomic.Bool
	run   func(ctx context.Context) error // nil: until ctx ends
}

func (f *fakeTask) Ready() bool { return f.ready.Load() }

func (f *fakeTask) Run(ctx context.Context) error {
	if f.run != nil {
		return f.run(ctx)
	}
	<-ctx.Done()
	return nil
}

// logBuffer keeps what is written, for whoever waits for a line of it.
type logBuffer struct {
	mu      sync.Mutex
	grown   *sync.Cond
	content bytes.Buffer
	late    bool
}

func newLogBuffer() *logBuffer {
	b := &logBuffer{}
	b.grown = sync.NewCond(&b.mu)
	return b
}

// Write implements io.Writer.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.grown.Broadcast()
	return b.content.Write(p)
}

// String is what was written so far.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.String()
}

// waitFor returns the match of a pattern and its groups, once there is one.
func (b *logBuffer) waitFor(t *testing.T, pattern string) []string {
	t.Helper()
	timer := time.AfterFunc(patience, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.late = true
		b.grown.Broadcast()
	})
	defer timer.Stop()
	compiled := regexp.MustCompile(pattern)
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if match := compiled.FindStringSubmatch(b.content.String()); match != nil {
			return match
		}
		if b.late {
			t.Fatalf("%q was not logged: %s", pattern, b.content.String())
		}
		b.grown.Wait()
	}
}

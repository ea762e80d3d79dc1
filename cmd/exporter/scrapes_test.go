package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// slowCollector holds every scrape until it is released.
type slowCollector struct {
	desc    *prometheus.Desc
	entered chan struct{}
	release chan struct{}
}

func newSlowCollector() *slowCollector {
	return &slowCollector{
		desc:    prometheus.NewDesc("test_slow", "Slow.", nil, nil),
		entered: make(chan struct{}, 2*maxRequestsInFlight),
		release: make(chan struct{}),
	}
}

func (c *slowCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c *slowCollector) Collect(ch chan<- prometheus.Metric) {
	c.entered <- struct{}{}
	<-c.release
	ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, 1)
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	s := newStage(t, nil)
	slow := newSlowCollector()
	s.service.metrics.MustRegister(slow)
	s.start(t)
	var fine atomic.Int32
	answered := make(chan struct{})
	for range maxRequestsInFlight {
		go func() {
			if status, _ := s.get(t, "/metrics"); status == 200 {
				fine.Add(1)
			}
			answered <- struct{}{}
		}()
	}
	for range maxRequestsInFlight {
		<-slow.entered
	}
	if status, _ := s.get(t, "/metrics"); status != http.StatusServiceUnavailable {
		t.Errorf("one too many: got %d, want 503", status)
	}
	if status, _ := s.get(t, "/-/healthy"); status != 200 {
		t.Errorf("health is held up by scrapes: %d", status)
	}
	close(slow.release)
	for range maxRequestsInFlight {
		<-answered
	}
	if fine.Load() != maxRequestsInFlight {
		t.Errorf("%d of %d scrapes were answered", fine.Load(), maxRequestsInFlight)
	}
}

func TestShutdownDrainsScrapes(t *testing.T) {
	s := newStage(t, nil)
	slow := newSlowCollector()
	s.service.metrics.MustRegister(slow)
	s.start(t)
	status, body := 0, ""
	answered := make(chan struct{})
	go func() {
		status, body = s.get(t, "/metrics")
		close(answered)
	}()
	<-slow.entered
	stopped := make(chan error)
	go func() { stopped <- s.stop() }()
	waitUntilClosed(t, s.address)
	close(slow.release)
	<-answered
	if status != 200 || !strings.Contains(body, "\ntest_slow 1\n") {
		t.Errorf("the scrape was cut: %d %s", status, body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// waitUntilClosed returns when nothing listens on the address any more.
func waitUntilClosed(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		switch {
		case err == nil:
			_ = connection.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			return
		case os.IsTimeout(err):
			t.Fatalf("%s is still open", address)
		}
	}
}

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestPaths(t *testing.T) {
	s := newStage(t, map[string]string{"KEYHEALTH_WEB_TELEMETRY_PATH": "/metrics/redis"})
	ready := &fakeTask{}
	s.service.tasks = []task{ready}
	s.service.metrics.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "test_gauge", Help: "A gauge."}))
	s.start(t)
	tests := []struct {
		method, path string
		body         io.Reader
		status       int
		want         string
	}{
		{"GET", "/metrics/redis", nil, 200, "\ntest_gauge 0\n"},
		{"GET", "/metrics/redis", nil, 200, "promhttp_metric_handler_errors_total"},
		{"HEAD", "/metrics/redis", nil, 200, ""},
		{"GET", "/metrics", nil, 404, ""},
		{"GET", "/-/healthy", nil, 200, "healthy\n"},
		{"GET", "/-/ready", nil, 503, "not ready: no sweep has been attempted yet, of some target at least\n"},
		{"GET", "/", nil, 200, `<a href="/metrics/redis">Metrics</a>`},
		{"GET", "/", nil, 200, `<a href="/-/ready">Readiness</a>`},
		{"HEAD", "/", nil, 200, ""},
		{"GET", "/probe", nil, 400, "the parameter target is missing: /probe?target=NAME, with a name from /targets\n"},
		{"GET", "/probe?target=", nil, 400, ""},
		{"GET", "/probe?target=x", nil, 404, "there is no target of that name: /targets lists them\n"},
		{"GET", "/targets", nil, 200, "[]\n"},
		{"POST", "/-/reload", nil, 403, "reloading by HTTP is off: set KEYHEALTH_WEB_ENABLE_LIFECYCLE=true, or send SIGHUP\n"},
		{"GET", "/-/reload", nil, 405, ""},
		{"POST", "/targets", nil, 405, ""},
		{"GET", "/favicon.ico", nil, 404, ""},
		{"GET", "/debug/pprof/heap", nil, 404, ""},
		{"POST", "/metrics/redis", nil, 405, ""},
		{"PUT", "/-/ready", nil, 405, ""},
		{"DELETE", "/", nil, 405, ""},
		{"GET", "/-/healthy", strings.NewReader(strings.Repeat("x", maxBodyBytes)), 200, "healthy\n"},
		{"GET", "/-/healthy", strings.NewReader(strings.Repeat("x", maxBodyBytes+1)), 413, "no path here takes a body\n"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.method, test.path, test.status), func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+s.address+test.path, test.body)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := s.do(t, request); status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
	ready.ready.Store(true)
	if status, body := s.get(t, "/-/ready"); status != 200 || body != "ready\n" {
		t.Errorf("got %d %q", status, body)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/-/healthy", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Long", strings.Repeat("x", 2*maxHeaderBytes))
	if status, _ := s.do(t, request); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("long header: %d", status)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestOpenMetrics(t *testing.T) {
	s := newStage(t, nil)
	s.start(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	if status, body := s.do(t, request); status != 200 || !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("got %d %s", status, body)
	}
}

// brokenCollector has one metric that is fine and one that is not.
type brokenCollector struct{ fine, broken *prometheus.Desc }

func (c brokenCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.fine; ch <- c.broken }

func (c brokenCollector) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(c.fine, prometheus.GaugeValue, 1)
	ch <- prometheus.NewInvalidMetric(c.broken, io.ErrUnexpectedEOF)
}

func TestOneBrokenMetricBlanksNoOther(t *testing.T) {
	s := newStage(t, nil)
	s.service.metrics.MustRegister(brokenCollector{
		fine:   prometheus.NewDesc("test_fine", "Fine.", nil, nil),
		broken: prometheus.NewDesc("test_broken", "Broken.", nil, nil),
	})
	s.start(t)
	if status, body := s.get(t, "/metrics"); status != 200 || !strings.Contains(body, "\ntest_fine 1\n") {
		t.Errorf("got %d %s", status, body)
	}
	if _, body := s.get(t, "/metrics"); !strings.Contains(body, `promhttp_metric_handler_errors_total{cause="gathering"} `) ||
		strings.Contains(body, `promhttp_metric_handler_errors_total{cause="gathering"} 0`) {
		t.Errorf("the failure is not counted: %s", body)
	}
	s.log.waitFor(t, "error gathering metrics")
}

func TestBasicAuth(t *testing.T) {
	s := newStage(t, map[string]string{"KEYHEALTH_WEB_CONFIG_FILE": "testdata/web.yml"})
	s.start(t)
	for password, want := range map[string]int{"": 401, "wrong": 401, "fakepassword": 200} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			request.SetBasicAuth("scraper", password)
		}
		if status, _ := s.do(t, request); status != want {
			t.Errorf("password %q: got %d, want %d", password, status, want)
		}
	}
}

func TestTLS(t *testing.T) {
	certificate, key := writeCertificate(t)
	s := newStage(t, map[string]string{
		"KEYHEALTH_WEB_CONFIG_FILE": writeFile(t, fmt.Sprintf("tls_server_config: {cert_file: %s, key_file: %s}", certificate, key)),
	})
	content, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(content)
	s.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted}
	s.start(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.address+"/-/healthy", nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.do(t, request); status != 200 || body != "healthy\n" {
		t.Errorf("got %d %q", status, body)
	}
	if status, _ := s.get(t, "/-/healthy"); status != http.StatusBadRequest {
		t.Errorf("plain HTTP to a TLS port: got %d, want 400", status)
	}
}

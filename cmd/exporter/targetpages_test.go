package main

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"keyhealth/collector"
	"keyhealth/collector/spec"
)

// watching adds watchers that never run to the stage.
func (s *stage) watching(names ...string) {
	targets := make([]spec.Target, len(names))
	for i, name := range names {
		targets[i] = spec.Target{Name: name, Endpoint: spec.Endpoint{Network: "tcp", Address: "127.0.0.1:1"}, Sweep: spec.DefaultSweep()}
	}
	s.service.watch = newWatchers(s.service.log, targets)
	s.service.metrics.MustRegister(collector.Of(s.service.watch.all))
}

const hostile = `jobs & <b>"more"`

func TestProbe(t *testing.T) {
	s := newStage(t, nil)
	s.watching("shop", hostile)
	s.start(t)
	for _, name := range []string{"shop", hostile} {
		status, body := s.get(t, "/probe?target="+url.QueryEscape(name))
		if status != 200 || !strings.Contains(body, "\nkeyhealth_up{") {
			t.Errorf("%s: %d %s", name, status, body)
		}
		for line := range strings.Lines(body) {
			label := "target=" + strings.ReplaceAll(`"`+strings.ReplaceAll(name, `"`, `\"`)+`"`, "\n", "")
			if !strings.HasPrefix(line, "#") && !strings.Contains(line, label) {
				t.Errorf("%s: no series of this target: %s", name, line)
			}
		}
	}
	if _, body := s.get(t, "/metrics"); strings.Count(body, "\nkeyhealth_up{") != 2 {
		t.Errorf("/metrics has not both targets: %s", body)
	}
	if status, body := s.get(t, "/probe?target=sho"); status != 404 || strings.Count(body, "\n") != 1 {
		t.Errorf("unknown target: %d %q", status, body)
	}
	if _, body := s.get(t, "/"); !strings.Contains(body, `<a href="/probe?target=shop">Target shop</a>`) || strings.Contains(body, "<b>") {
		t.Errorf("landing page: %s", body)
	}
}

func TestDiscovery(t *testing.T) {
	s := newStage(t, nil)
	s.watching("shop", hostile)
	s.start(t)
	page := s.service.pages()
	for _, test := range []struct {
		host, scheme string
		tls          *tls.ConnectionState
	}{
		{"keyhealth.example:10121", "", nil},
		{"[::1]:10121", "", nil},
		{"keyhealth.example", "https", &tls.ConnectionState{}},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, targetsPath, nil)
		request.Host, request.TLS = test.host, test.tls
		answer := httptest.NewRecorder()
		page.discovery(answer, request)
		var got []discovered
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		want := []discovered{}
		for _, name := range []string{"shop", hostile} {
			labels := map[string]string{"__metrics_path__": "/probe", "__param_target": name, "target": name}
			if test.scheme != "" {
				labels["__scheme__"] = test.scheme
			}
			want = append(want, discovered{[]string{test.host}, labels})
		}
		if !reflect.DeepEqual(got, want) || answer.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
	if status, body := s.get(t, "/targets"); status != 200 || !strings.Contains(body, s.address) || strings.Contains(body, "127.0.0.1:1\"") {
		t.Errorf("%d %s", status, body)
	}
}

// TestProbesAndScrapesShareABound: whoever scrapes, the exporter answers 40 at a
// time, and again when they are gone.
func TestProbesAndScrapesShareABound(t *testing.T) {
	s := newStage(t, nil)
	s.watching("shop")
	slow := newSlowCollector()
	s.service.metrics.MustRegister(slow)
	s.start(t)
	answered := make(chan struct{})
	for range maxRequestsInFlight {
		go func() {
			s.get(t, "/metrics")
			answered <- struct{}{}
		}()
	}
	for range maxRequestsInFlight {
		<-slow.entered
	}
	if status, body := s.get(t, "/probe?target=shop"); status != http.StatusServiceUnavailable || strings.Count(body, "\n") != 1 {
		t.Errorf("one too many: %d %q", status, body)
	}
	close(slow.release)
	for range maxRequestsInFlight {
		<-answered
	}
	if status, _ := s.get(t, "/probe?target=shop"); status != 200 {
		t.Errorf("the places are not free again: %d", status)
	}
}

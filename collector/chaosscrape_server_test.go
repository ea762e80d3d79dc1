// How long scrapes take while everything happens, beside a control.

package collector

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scraper scrapes a collector over HTTP, and right after it a control: as many
// series that never change, of a registry that knows no Redis.
type scraper struct {
	t                   *testing.T
	server              *httptest.Server
	own, control        *prometheus.Registry
	times, controlTimes []time.Duration
}

func newScraper(t *testing.T, c prometheus.Collector) *scraper {
	t.Helper()
	s := &scraper{t: t, own: prometheus.NewRegistry(), control: prometheus.NewRegistry()}
	s.own.MustRegister(c)
	mux := http.NewServeMux()
	for path, registry := range map[string]*prometheus.Registry{"/metrics": s.own, "/control": s.control} {
		mux.Handle(path, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	}
	s.server = httptest.NewServer(mux)
	for i := range strings.Count(s.get("/metrics"), "\n") {
		s.control.MustRegister(constant(fmt.Sprintf("control_%d", i%100), i))
	}
	return s
}

// constant is a series whose value is its number.
func constant(name string, number int) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: "A series that never changes.", ConstLabels: prometheus.Labels{"number": fmt.Sprint(number)}})
	g.Set(float64(number))
	return g
}

func (s *scraper) close() {
	s.server.Client().CloseIdleConnections()
	s.server.Close()
}

func (s *scraper) get(path string) string {
	s.t.Helper()
	response, err := s.server.Client().Get(s.server.URL + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
	return string(text)
}

func (s *scraper) scrape() {
	s.t.Helper()
	began := time.Now()
	s.get("/metrics")
	between := time.Now()
	s.get("/control")
	s.times, s.controlTimes = append(s.times, between.Sub(began)), append(s.controlTimes, time.Since(between))
}

// judge: scrapes take at most 10 times their median. A machine that is busy holds
// up a scrape, too, but then it holds up the control, which is as long and is
// scraped as often. So the slowest 2 % fail the test where they are also beyond
// twice those of the control, and the slowest one, a single bad moment, beyond 10
// times that of the control. One that waited for a Redis that hangs would take a
// second or two, and there would be many.
func (s *scraper) judge() {
	s.t.Helper()
	middle, late, slowest := spread(s.times)
	controlMiddle, controlLate, controlSlowest := spread(s.controlTimes)
	s.t.Logf("%d scrapes, median %v, 98th percentile %v, slowest %v; of the control %v, %v, %v",
		len(s.times), middle, late, slowest, controlMiddle, controlLate, controlSlowest)
	if late > 10*middle && late > 2*controlLate || slowest > 10*middle && slowest > 10*controlSlowest {
		s.t.Error("scrapes are slow, and not because the machine is")
	}
}

func spread(times []time.Duration) (middle, late, slowest time.Duration) {
	slices.Sort(times)
	return times[len(times)/2], times[len(times)*98/100], times[len(times)-1]
}

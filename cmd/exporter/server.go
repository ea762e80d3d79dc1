// The HTTP side: which paths there are, and the bounds on who calls them. When
// it is started and stopped is serve.go.

package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
)

const (
	maxRequestsInFlight = 40
	maxBodyBytes        = 1 << 10
	maxHeaderBytes      = 16 << 10
	drainTime           = 3 * time.Second // for requests in flight at shutdown
)

// pages is what the handler serves.
type pages struct {
	metrics       *prometheus.Registry
	telemetryPath string
	ready         func() bool
	targets       func() []*watched
	lifecycle     bool             // POST /-/reload is on
	reload        func() []problem // nil: there is nothing to reload
	log           *slog.Logger
}

// handler returns the paths of the exporter. All of them are for GET and HEAD,
// but for /-/reload.
func (p pages) handler() http.Handler {
	bounded := bound(maxRequestsInFlight)
	mux := http.NewServeMux()
	mux.Handle("GET "+p.telemetryPath, bounded(p.serveMetrics(p.metrics)))
	mux.Handle("GET "+probePath, bounded(http.HandlerFunc(p.probe)))
	mux.HandleFunc("GET "+targetsPath, p.discovery)
	mux.Handle("POST /-/reload", bound(2)(http.HandlerFunc(p.reloadPage))) // one reloads, one waits
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "healthy\n")
	})
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if !p.ready() {
			http.Error(w, "not ready: no sweep has been attempted yet, of some target at least", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ready\n")
	})
	mux.HandleFunc("GET /{$}", p.landing)
	return withoutBody(mux)
}

// landing is made anew each time: the targets may have been exchanged.
func (p pages) landing(w http.ResponseWriter, r *http.Request) {
	links := []web.LandingLinks{
		{Address: p.telemetryPath, Text: "Metrics"},
		{Address: targetsPath, Text: "Service discovery", Description: "the targets, for http_sd_configs of Prometheus"},
		{Address: "/-/healthy", Text: "Health", Description: "the process runs"},
		{Address: "/-/ready", Text: "Readiness", Description: "a first sweep of every target was attempted"},
	}
	links = append(links, p.targetLinks()...)
	for i := range links { // the page's template escapes nothing
		links[i].Address, links[i].Text = html.EscapeString(links[i].Address), html.EscapeString(links[i].Text)
	}
	landing, err := web.NewLandingPage(web.LandingConfig{
		Name:        "keyhealth",
		Description: "Finds Redis keys without TTL",
		Version:     version.Info(),
		Profiling:   "false",
		Links:       links,
	})
	if err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	landing.ServeHTTP(w, r)
}

// serveMetrics serves what there is even if one collector fails, and counts and
// logs the failure.
func (p pages) serveMetrics(from prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelError),
		ErrorHandling:     promhttp.ContinueOnError,
		Registry:          p.metrics,
		EnableOpenMetrics: true,
	})
}

// bound lets a number of requests through at the same time, to all handlers that
// it is put before together, and turns the others away at once.
func bound(most int) func(http.Handler) http.Handler {
	places := make(chan struct{}, most)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				next.ServeHTTP(w, r)
			default:
				http.Error(w, fmt.Sprintf("more than %d requests at the same time: try again", most), http.StatusServiceUnavailable)
			}
		})
	}
}

// withoutBody swallows a short body, since no path has a use for one, and
// refuses a longer one.
func withoutBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBodyBytes)); err != nil {
			http.Error(w, "no path here takes a body", http.StatusRequestEntityTooLarge)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// newServer bounds what a client can hold up. The toolkit wraps the handler in
// the server, so each listener has a server of its own.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       3 * time.Minute, // above any usual scrape interval
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // scanners and broken handshakes
	}
}

// shutdown lets requests in flight finish and returns when they have, or when
// their time is up and they were cut.
func shutdown(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
	}
}

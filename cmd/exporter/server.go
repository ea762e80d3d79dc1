// The HTTP side: which paths there are, and the bounds on who calls them. When
// it is started and stopped is serve.go.

package main

import (
	"context"
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
	log           *slog.Logger
}

// handler returns the paths of the exporter. All of them are for GET and HEAD.
func (p pages) handler() (http.Handler, error) {
	landing, err := web.NewLandingPage(web.LandingConfig{
		Name:        "keyhealth",
		Description: "Finds Redis keys without TTL",
		Version:     version.Info(),
		Profiling:   "false",
		Links: []web.LandingLinks{
			{Address: p.telemetryPath, Text: "Metrics"},
			{Address: "/-/healthy", Text: "Health", Description: "the process runs"},
			{Address: "/-/ready", Text: "Readiness", Description: "a first sweep was attempted"},
		},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+p.telemetryPath, p.metricsHandler())
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "healthy\n")
	})
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if !p.ready() {
			http.Error(w, "not ready: no sweep has been attempted yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ready\n")
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		landing.ServeHTTP(w, r)
	})
	return withoutBody(mux), nil
}

// metricsHandler serves what there is even if one collector fails, and counts
// and logs the failure.
func (p pages) metricsHandler() http.Handler {
	return promhttp.HandlerFor(p.metrics, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(p.log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            p.metrics,
		MaxRequestsInFlight: maxRequestsInFlight,
		EnableOpenMetrics:   true,
	})
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

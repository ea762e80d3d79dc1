// keyhealth serve: wires the collector to the web server and runs both until
// the context ends.

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	versioncollector "github.com/prometheus/client_golang/prometheus/collectors/version"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/sync/errgroup"

	"keyhealth/collector"
	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
)

// stopTime bounds the whole shutdown. Who stops the process waits 10 s or so
// before killing it, and a sweep may hang in a Redis that hangs.
const stopTime = 4 * time.Second

func serve(ctx context.Context, cfg *config, hangups chan os.Signal, stderr io.Writer) int {
	log := newLogger(cfg, stderr)
	watch := newWatchers(log, cfg.targets())
	return serveTargets(ctx, cfg, service{watch: watch, reloader: newReloader(cfg, watch, hangups, log), log: log}, stderr)
}

// serveTargets serves what the watchers of s find, with other tasks beside them,
// until ctx ends.
func serveTargets(ctx context.Context, cfg *config, s service, stderr io.Writer) int {
	listeners, failed := listen(ctx, cfg)
	if failed != nil {
		report(stderr, *failed)
		return exitUsage
	}
	limitMemory(s.log, memlimit.FromCgroup)
	for _, one := range s.watch.watched() {
		announce(s.log, one.target)
	}
	s.cfg, s.listeners, s.stopTime = cfg, listeners, stopTime
	s.metrics = prometheus.NewRegistry()
	s.metrics.MustRegister(
		collector.Of(s.watch.all),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		versioncollector.NewCollector("keyhealth"),
	)
	s.tasks = append(s.tasks, s.watch)
	if s.reloader != nil {
		s.metrics.MustRegister(s.reloader.success, s.reloader.at)
		s.tasks = append(s.tasks, s.reloader)
	}
	if err := s.run(ctx); err != nil {
		report(stderr, problem{subject: "serve", rule: tidy(err)})
		return exitUsage
	}
	s.log.Info("keyhealth has stopped")
	return exitFine
}

// task is something that runs until its context ends.
type task interface {
	Run(ctx context.Context) error
	Ready() bool
}

// service is everything that runs at the same time.
type service struct {
	tasks     []task
	watch     *watchers // nil: no targets
	reloader  *reloader // nil: there is nothing to reload
	listeners []net.Listener
	metrics   *prometheus.Registry
	cfg       *config
	log       *slog.Logger
	stopTime  time.Duration
}

// run returns nil once ctx has ended and everything has stopped, or when
// stopTime is up; and an error when a part fails before that.
func (s *service) run(ctx context.Context) error {
	handler := s.pages().handler()
	group, running := errgroup.WithContext(ctx)
	for _, t := range s.tasks {
		group.Go(func() error { return t.Run(running) })
	}
	for _, listener := range s.listeners {
		server := newServer(handler, s.log)
		group.Go(func() error { return s.serveOn(listener, server) })
		group.Go(func() error {
			<-running.Done()
			shutdown(running, server)
			return nil
		})
	}
	finished := make(chan error, 1)
	go func() { finished <- group.Wait() }()
	<-running.Done() // ctx ended, or a part failed
	select {
	case err := <-finished:
		return err
	case <-time.After(s.stopTime):
	}
	s.log.Warn("a sweep did not stop in time and is left behind")
	if ctx.Err() == nil {
		return context.Cause(running)
	}
	return nil
}

func (s *service) pages() pages {
	p := pages{
		metrics:       s.metrics,
		telemetryPath: s.cfg.Web.TelemetryPath,
		lifecycle:     s.cfg.Web.EnableLifecycle,
		ready:         s.ready,
		targets:       func() []*watched { return nil },
		log:           s.log,
	}
	if s.watch != nil {
		p.targets = s.watch.watched
	}
	if s.reloader != nil {
		p.reload = s.reloader.reload
	}
	return p
}

func (s *service) ready() bool {
	for _, t := range s.tasks {
		if !t.Ready() {
			return false
		}
	}
	return true
}

func (s *service) serveOn(listener net.Listener, server *http.Server) error {
	defer func() { _ = listener.Close() }() // the toolkit does not, when the web configuration has become unusable
	err := web.Serve(listener, server, &web.FlagConfig{WebConfigFile: &s.cfg.Web.ConfigFile}, s.log)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listen opens every address, or none of them.
func listen(ctx context.Context, cfg *config) ([]net.Listener, *problem) {
	var listeners []net.Listener
	for _, address := range cfg.Web.ListenAddress {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			subject := nameListenAddress
			if flag := cfg.flagOf[subject]; flag != "" {
				subject = flag
			}
			return nil, &problem{subject: subject, value: address, rule: listenReason(err), example: ":10122"}
		}
		listeners = append(listeners, listener)
	}
	return listeners, nil
}

func newLogger(cfg *config, w io.Writer) *slog.Logger {
	level, format := promslog.NewLevel(), promslog.NewFormat()
	// Both were checked with the settings.
	_ = level.Set(cfg.Log.Level)
	_ = format.Set(cfg.Log.Format)
	return promslog.New(&promslog.Config{Level: level, Format: format, Writer: w})
}

// announce says what is watched: address and name, and nothing of a user.
func announce(log *slog.Logger, target spec.Target) {
	log = log.With("target", target.Name)
	log.Info("keyhealth is starting",
		"version", version.Version,
		"address", strings.Join(append([]string{target.Endpoint.Address}, target.Seeds...), ","),
		"interval", classify.Duration(target.Sweep.Interval).String(),
		"groups", len(target.Rules),
		"presets", len(target.Presets),
	)
	if len(target.Rules) == 0 {
		log.Warn("No groups of your own are described: only keys that a preset knows can be zombies",
			"hint", nameGroups+"='name=prefix:*@60s'")
	}
	for _, doubt := range doubts(target.Rules) {
		log.Warn("Is this meant?", "groups", doubt)
	}
	if tls := target.Endpoint.TLS; tls != nil && tls.SkipVerify {
		log.Warn("The certificate of Redis is not verified", "setting", prefixTLS+"SKIP_VERIFY")
	}
}

// Reading the file again while the exporter serves, on SIGHUP and on POST
// /-/reload.

package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
)

// reloader implements task: it waits for SIGHUP.
type reloader struct {
	watch   *watchers
	log     *slog.Logger
	hangups chan os.Signal
	success prometheus.Gauge
	at      prometheus.Gauge

	mu         sync.Mutex
	cfg        *config // as it was at the start; only the file is read again
	hadTargets bool    // the file, when it was last read
}

// catchHangups takes SIGHUP from now on where the command is one that reloads: it
// must not end a process that has not begun to serve.
func catchHangups(command string) chan os.Signal {
	hangups := make(chan os.Signal, 1)
	if command == serveCommand {
		signal.Notify(hangups, syscall.SIGHUP)
	}
	return hangups
}

func newReloader(cfg *config, watch *watchers, hangups chan os.Signal, log *slog.Logger) *reloader {
	r := &reloader{
		cfg: cfg, watch: watch, log: log, hangups: hangups, hadTargets: len(cfg.each) > 0,
		success: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "keyhealth_config_last_reload_success",
			Help: "1 if the configuration could be read when that was last tried, else 0: then the one before is in force.",
		}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "keyhealth_config_last_reload_success_timestamp_seconds",
			Help: "Unix time at which the configuration in force was read.",
		}),
	}
	r.succeeded()
	return r
}

// Ready implements task.
func (r *reloader) Ready() bool { return true }

// Run reloads at each SIGHUP until ctx ends.
func (r *reloader) Run(ctx context.Context) error {
	defer signal.Stop(r.hangups)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.hangups:
			r.reload()
		}
	}
}

// reload reads the file again. Problems are logged, and change nothing.
func (r *reloader) reload() []problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, problems := r.cfg.again(r.hadTargets)
	if len(problems) > 0 {
		r.success.Set(0)
		for _, p := range problems {
			r.log.Error("The configuration is not reloaded, the one before stays in force", "problem", p.String())
		}
		return problems
	}
	r.hadTargets = len(next.each) > 0
	targets := next.targets()
	done := r.watch.exchange(targets)
	r.succeeded()
	r.log.Info("The configuration is reloaded", "targets", len(targets), "added", done.added, "removed", done.removed, "changed", done.changed)
	if next.ConfigFile == "" {
		r.log.Warn("There was nothing to read again: the environment is read at the start only", "hint", nameConfigFile)
	}
	return nil
}

func (r *reloader) succeeded() {
	r.success.Set(1)
	r.at.SetToCurrentTime()
}

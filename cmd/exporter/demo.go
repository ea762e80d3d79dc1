//go:build !nodemo

// keyhealth demo: serve on a Redis in memory that has everything keyhealth looks
// for. What goes on in it is internal/demo.

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"keyhealth/collector/spec"
	"keyhealth/internal/demo"
)

const demoCommand = "demo"

// demoInterval is short enough to see something soon.
const demoInterval = 5 * time.Second

func addDemo(app *kingpin.Application) {
	app.Command(demoCommand, "Watch a Redis in memory on which limiters are broken. Needs nothing installed.")
}

func serveDemo(ctx context.Context, cfg *config, stdout, stderr io.Writer) int {
	log := newLogger(cfg, stderr)
	d, err := demo.Start(ctx, log)
	if err != nil {
		report(stderr, problem{subject: demoCommand, rule: tidy(err)})
		return exitUsage
	}
	defer d.Close()
	target := cfg.target()
	target.Name = demoCommand
	target.Endpoint = d.Endpoint()
	target.Databases = nil
	target.Sweep.Interval, target.Sweep.StaleAfter = demoInterval, 0
	if target.Rules, err = demo.Groups(); err != nil {
		report(stderr, problem{subject: demoCommand, rule: tidy(err)})
		return exitUsage
	}
	if cfg.given[nameListenAddress].isEmpty() {
		cfg.Web.ListenAddress = []string{"127.0.0.1:10121"} // a demo is nobody else's business
	}
	_, redisPort, _ := net.SplitHostPort(d.Endpoint().Address)
	greeting := &welcomed{d, func() { welcome(stdout, cfg, redisPort) }}
	return serveTargets(ctx, cfg, service{
		tasks: []task{greeting},
		watch: newWatchers(log, []spec.Target{target}),
		log:   log,
	}, stderr)
}

// welcomed is a demo that greets when it runs: the port is open by then.
type welcomed struct {
	*demo.Demo
	greet func()
}

func (w *welcomed) Run(ctx context.Context) error {
	w.greet()
	return w.Demo.Run(ctx)
}

// welcome says what is running, and what to look at.
func welcome(w io.Writer, cfg *config, redisPort string) {
	port := cfg.Web.ListenAddress[0]
	port = port[strings.LastIndexByte(port, ':')+1:]
	fmt.Fprintf(w, `This is a DEMO. It watches a Redis in memory of its own, and no other server:
a few correct applications, and limiters that lose a TTL now and then. Callers
get locked out before your eyes. Ctrl-C ends it and leaves nothing behind.

  its Redis             redis-cli -p %[4]s
  what keyhealth sees   http://127.0.0.1:%[1]s%[2]s
  the zombies alone     curl -s http://127.0.0.1:%[1]s%[2]s |
                          grep '^keyhealth_group_zombie_keys{'

These groups are described to it, as a file for KEYHEALTH_CONFIG_FILE would:

%[3]s
`, port, cfg.Web.TelemetryPath, demo.Rules, redisPort)
}

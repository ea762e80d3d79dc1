// The configuration: settings that are valid together, with the groups they
// describe, and the target that they make.

package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
)

// config is what the commands work on.
type config struct {
	settings

	rules     []classify.Rule // in order: the first match wins
	discovery classify.Discovery
	given     map[string]secret // what was set, by environment or flag, by name
	flagOf    map[string]string // the flag of a setting that was given by flag

	before *config     // as it was before the file was read
	entry  *fileTarget // of a target of the file: what it says itself
	each   []*config   // of the targets of the file; none: it names none

	keepsTargets bool // the file has to name targets, as it did before
}

// load reads and checks everything that serve relies on. Either the
// configuration is sound or there are problems.
func load(line flags) (*config, []problem) {
	if line.redisURL != "" {
		_ = os.Unsetenv(nameRedisURL) // whatever it is
	}
	cfg := &config{given: environment(), flagOf: map[string]string{}}
	problems := unknownNames(cfg.given, cfg.table())
	unparsed := append(cfg.fill(), cfg.argument(line.redisURL)...)
	problems = append(problems, unparsed...)
	cfg.apply(line)
	if len(unparsed) == 0 {
		// Rules would be judged by defaults that nobody chose otherwise.
		problems = append(problems, cfg.complete()...)
	}
	return cfg, problems
}

// complete reads the file and checks everything.
func (c *config) complete() []problem {
	before := *c
	c.before = &before
	return validate(c)
}

// again is the configuration with the file as it is now, and the environment and
// the flags as they were. If it had targets it must not have none now: an editor
// may be about to write it, and where the environment says nothing is 127.0.0.1.
func (c *config) again(hadTargets bool) (*config, []problem) {
	next := *c.before
	next.keepsTargets = hadTargets
	return &next, next.complete()
}

// argument takes a URL of the command line for the setting. Other users of the
// machine see it: it holds no password.
func (c *config) argument(text string) []problem {
	if text == "" {
		return nil
	}
	const subject = "URL"
	row := find(c.table(), nameRedisURL)
	if err := row.set(text); err != nil {
		p := row.broken("", err)
		p.subject, p.before = subject, "keyhealth "+selfTestCommand+" "
		if p.example == row.example {
			p.example = row.initial // as it is where somebody tries
		}
		return []problem{p}
	}
	if c.Redis.URL.hasUser() {
		return []problem{{subject: subject, rule: "must not hold a user or password, which others see in an argument: set " + nameUsername + " and " + namePasswordFile}}
	}
	c.given[nameRedisURL], c.flagOf[nameRedisURL] = newSecret(text), subject
	return nil
}

// apply lets flags win over the environment.
func (c *config) apply(line flags) {
	set := func(name, flag, value string, target *string) {
		if value != "" {
			*target, c.given[name], c.flagOf[name] = value, newSecret(value), flag
		}
	}
	listen := ""
	set(nameListenAddress, "--web.listen-address", strings.Join(line.listenAddresses, ","), &listen)
	if listen != "" {
		c.Web.ListenAddress = line.listenAddresses
	}
	for i := range c.Web.ListenAddress {
		c.Web.ListenAddress[i] = strings.TrimSpace(c.Web.ListenAddress[i])
	}
	set(nameWebConfigFile, "--web.config.file", line.webConfigFile, &c.Web.ConfigFile)
	set(nameLogLevel, "--log.level", line.logLevel, &c.Log.Level)
	set(nameLogFormat, "--log.format", line.logFormat, &c.Log.Format)
}

// target is what the collector is to watch.
func (c *config) target() spec.Target {
	endpoint := spec.Endpoint{
		Network:      c.Redis.URL.network,
		Address:      c.Redis.URL.addresses[0],
		Username:     c.Redis.Username.reveal(),
		Password:     c.Redis.Password.reveal(),
		PasswordFile: c.Redis.PasswordFile,
		Timeout:      time.Duration(c.Redis.Timeout),
	}
	if c.Redis.URL.hasUser() {
		endpoint.Username, endpoint.Password = c.Redis.URL.username.reveal(), c.Redis.URL.password.reveal()
	}
	if c.Redis.URL.usesTLS() {
		endpoint.TLS = &spec.TLS{
			CAFile:     c.Redis.TLS.CAFile,
			CertFile:   c.Redis.TLS.CertFile,
			KeyFile:    c.Redis.TLS.KeyFile,
			ServerName: c.Redis.TLS.ServerName,
			SkipVerify: c.Redis.TLS.SkipVerify,
		}
	}
	return spec.Target{
		Name:      c.TargetName,
		Endpoint:  endpoint,
		Seeds:     c.Redis.URL.addresses[1:],
		Cluster:   c.clusterMode(),
		Sentinel:  c.sentinel(),
		Replicas:  c.Redis.PreferReplica != "false",
		Databases: c.databases(),
		Rules:     slices.Clone(c.rules),
		Presets:   c.Presets.selected(),
		Discovery: c.discovery,
		MaxGroups: int(c.MaxGroups),
		SelfTest:  time.Duration(c.SelftestInterval),
		Sweep: spec.Sweep{
			Interval:      time.Duration(c.Sweep.Interval),
			MaxKeys:       int64(c.Sweep.MaxKeys),
			Duty:          c.Sweep.Duty,
			ScanCount:     int(c.Sweep.ScanCount),
			Timeout:       c.sweepTimeout(),
			StaleAfter:    time.Duration(c.StaleAfter),
			MemorySamples: int(c.MemorySamples),
			FullEvery:     time.Duration(c.Sweep.FullEvery),
			FullTimeout:   c.fullTimeout(),
			Pool:          int(c.Sweep.Pool),
			BigKeys: spec.BigKeySearch{
				Bytes:    int64(c.BigKey.Bytes),
				Elements: int64(c.BigKey.Elements),
				Budget:   int(c.BigKey.Budget),
			},
		},
	}
}

func (c *config) clusterMode() spec.ClusterMode {
	switch c.Redis.Cluster {
	case "true":
		return spec.ClusterAlways
	case "false":
		return spec.ClusterNever
	}
	return spec.ClusterAuto
}

func (c *config) sentinel() *spec.Sentinel {
	if !c.Redis.URL.isSentinel() {
		return nil
	}
	return &spec.Sentinel{
		Master:       c.Redis.URL.master,
		Username:     c.Sentinel.Username.reveal(),
		PasswordFile: c.Sentinel.PasswordFile,
	}
}

// sweepTimeout is the timeout, except where every key is asked for and nobody
// has set one: such a walk takes as long as it takes.
func (c *config) sweepTimeout() time.Duration {
	if c.Sweep.MaxKeys == 0 && c.given[nameSweepTimeout].isEmpty() {
		return 0
	}
	return time.Duration(c.Sweep.Timeout)
}

// fullTimeout is the timeout where somebody has set one.
func (c *config) fullTimeout() time.Duration {
	if c.given[nameSweepTimeout].isEmpty() {
		return 0
	}
	return time.Duration(c.Sweep.Timeout)
}

// databases are those of the setting or the one of the URL.
func (c *config) databases() []int {
	if number := c.Redis.URL.database; number != nil {
		return []int{*number}
	}
	return c.Databases
}

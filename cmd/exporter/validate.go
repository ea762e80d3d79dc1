// The rules that settings must keep beyond parsing, alone and together. What is
// true here is what serve relies on; nothing is dialled.

package main

import (
	"net"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/exporter-toolkit/web"

	"keyhealth/collector"
)

// validator collects the problems of a configuration whose settings parsed.
type validator struct {
	cfg      *config
	rows     []setting
	problems []problem
}

// require notes that the named setting breaks its rule unless ok.
func (v *validator) require(ok bool, name string) {
	if !ok {
		v.add(name, nil)
	}
}

// brokenFile notes why the file of the named setting cannot be used.
func (v *validator) brokenFile(name, reason string) {
	row := find(v.rows, prefix+name)
	v.add(name, ruleError(row.rule+" ("+reason+")"))
}

func (v *validator) add(name string, err error) {
	p := find(v.rows, prefix+name).broken(v.cfg.given[prefix+name].reveal(), err)
	if flag := v.cfg.flagOf[p.subject]; flag != "" {
		p.subject = flag
	}
	v.problems = append(v.problems, p)
}

// refuse notes that settings which are fine by themselves do not go together.
func (v *validator) refuse(subject, rule string) {
	v.problems = append(v.problems, problem{subject: subject, rule: rule})
}

func validate(cfg *config, rows []setting) []problem {
	v := &validator{cfg: cfg, rows: rows}
	v.target()
	v.redisTLS()
	v.sweep()
	v.web()
	v.groups()
	return v.problems
}

func (v *validator) target() {
	cfg := v.cfg
	v.require(printable(cfg.TargetName), "TARGET_NAME")
	v.require(cfg.Redis.Timeout > 0, "REDIS_TIMEOUT")
	user, password, file := !cfg.Redis.Username.isEmpty(), !cfg.Redis.Password.isEmpty(), cfg.Redis.PasswordFile != ""
	switch {
	case cfg.Redis.URL.hasUser() && (user || password || file):
		v.refuse(nameRedisURL, "holds a user or password: give both in the URL, or both as settings of their own")
	case password && file:
		v.refuse(prefix+"REDIS_PASSWORD", "must not be given together with KEYHEALTH_REDIS_PASSWORD_FILE")
	case !cfg.Redis.URL.username.isEmpty() && cfg.Redis.URL.password.isEmpty():
		v.refuse(nameRedisURL, "holds a user without password: a user of the ACL with nopass takes any password")
	case user && !password && !file:
		v.refuse(prefix+"REDIS_USERNAME", "needs KEYHEALTH_REDIS_PASSWORD or KEYHEALTH_REDIS_PASSWORD_FILE: a user of the ACL with nopass takes any password")
	}
	if file {
		content, err := os.ReadFile(cfg.Redis.PasswordFile)
		switch {
		case err != nil:
			v.brokenFile("REDIS_PASSWORD_FILE", fileReason(err))
		case strings.Trim(string(content), "\r\n") == "":
			v.brokenFile("REDIS_PASSWORD_FILE", "it is empty")
		}
	}
	if cfg.Redis.URL.database != nil && !cfg.given[nameDatabases].isEmpty() {
		v.refuse(nameDatabases, "must not be given together with a database in KEYHEALTH_REDIS_URL")
	}
}

func (v *validator) redisTLS() {
	tls := v.cfg.Redis.TLS
	if tls != (redisTLSSettings{}) && !v.cfg.Redis.URL.usesTLS() {
		for _, row := range v.rows {
			if strings.HasPrefix(row.name, prefix+"REDIS_TLS_") && !v.cfg.given[row.name].isEmpty() {
				v.refuse(row.name, "needs a KEYHEALTH_REDIS_URL that begins with rediss:// or valkeys://")
			}
		}
		return
	}
	switch {
	case tls.KeyFile == "" && tls.CertFile != "":
		v.refuse(prefix+"REDIS_TLS_CERT_FILE", "needs KEYHEALTH_REDIS_TLS_KEY_FILE too")
		return
	case tls.CertFile == "" && tls.KeyFile != "":
		v.refuse(prefix+"REDIS_TLS_KEY_FILE", "needs KEYHEALTH_REDIS_TLS_CERT_FILE too")
		return
	}
	// Loaded one by one, as the collector will, to know which setting is at fault.
	if tls.CAFile != "" {
		if _, err := (&collector.TLS{CAFile: tls.CAFile}).Load(""); err != nil {
			v.brokenFile("REDIS_TLS_CA_FILE", tidy(err))
		}
	}
	if tls.CertFile != "" {
		if _, err := (&collector.TLS{CertFile: tls.CertFile, KeyFile: tls.KeyFile}).Load(""); err != nil {
			v.brokenFile("REDIS_TLS_CERT_FILE", tidy(err))
		}
	}
}

// Bounds that nobody needs to pass, and arithmetic needs to have.
const (
	longestInterval = 365 * 24 * time.Hour
	mostKeys        = 1_000_000_000_000
)

func (v *validator) sweep() {
	sweep := v.cfg.Sweep
	v.require(time.Duration(sweep.Interval) >= time.Second && time.Duration(sweep.Interval) <= longestInterval, "SWEEP_INTERVAL")
	v.require(sweep.MaxKeys >= 0 && sweep.MaxKeys <= mostKeys, "SWEEP_MAX_KEYS")
	v.require(sweep.Duty > 0 && sweep.Duty <= 1, "SWEEP_DUTY") // false for NaN too
	v.require(sweep.ScanCount >= 10 && sweep.ScanCount <= 1000, "SWEEP_SCAN_COUNT")
	stale := collector.Duration(v.cfg.StaleAfter)
	v.require(stale == 0 || stale >= sweep.Interval, "STALE_AFTER")
	v.require(sweep.FullEvery == 0 || sweep.FullEvery >= sweep.Interval, "SWEEP_FULL_EVERY")
	v.require(sweep.Pool >= 1 && sweep.Pool <= 100, "SWEEP_POOL")
	big := v.cfg.BigKey
	v.require(big.Bytes >= 1<<10 && big.Bytes <= 1<<50, "BIG_KEY_BYTES")
	v.require(big.Elements >= 100 && big.Elements <= mostKeys, "BIG_KEY_ELEMENTS")
	v.require(big.Budget == 0 || big.Budget >= 10 && big.Budget <= 100_000, "BIG_KEY_BUDGET")
	v.require(v.cfg.MaxGroups >= 1 && v.cfg.MaxGroups <= 10_000, "MAX_GROUPS")
	v.require(v.cfg.MemorySamples >= 0 && v.cfg.MemorySamples <= 10_000, "MEMORY_SAMPLES")
}

func (v *validator) web() {
	cfg := v.cfg
	v.require(!slices.ContainsFunc(cfg.Web.ListenAddress, notAnAddress), "WEB_LISTEN_ADDRESS")
	v.require(telemetryPathIsFree(cfg.Web.TelemetryPath), "WEB_TELEMETRY_PATH")
	v.require(slices.Contains(promslog.LevelFlagOptions, cfg.Log.Level), "LOG_LEVEL")
	v.require(slices.Contains(promslog.FormatFlagOptions, cfg.Log.Format), "LOG_FORMAT")
	if err := web.Validate(cfg.Web.ConfigFile); err != nil {
		reason := fileReason(err)
		if strings.Contains(reason, "bcrypt") {
			reason = "a password of basic_auth_users is no bcrypt hash, as htpasswd -nB makes it"
		}
		v.brokenFile("WEB_CONFIG_FILE", reason)
	}
}

// groups reads the rules: those of the setting before those of the file.
func (v *validator) groups() {
	cfg := v.cfg
	quick, err := collector.ParseGroups(cfg.Groups)
	switch {
	case err == nil:
	case strings.Contains(cfg.Groups, "://"):
		v.require(false, "GROUPS") // looks like a URL, and err quotes it
		return
	default:
		v.add("GROUPS", ruleError(err.Error()))
		return
	}
	cfg.rules, cfg.discovery = quick, collector.DefaultDiscovery()
	if cfg.ConfigFile == "" {
		return
	}
	content, err := os.ReadFile(cfg.ConfigFile)
	if err != nil {
		v.brokenFile("CONFIG_FILE", fileReason(err))
		return
	}
	file, problems := parseConfigFile(cfg.ConfigFile, content)
	v.problems = append(v.problems, problems...)
	cfg.rules, cfg.discovery = slices.Concat(quick, file.Groups), file.Discovery
	if len(problems) > 0 {
		return
	}
	if file.Presets != nil {
		if !cfg.given[namePresets].isEmpty() {
			v.refuse(namePresets, "must not be given together with presets in KEYHEALTH_CONFIG_FILE")
		}
		cfg.Presets = *file.Presets
	}
	if err := collector.ValidateRules(cfg.rules); err != nil {
		v.refuse(nameGroups, "together with KEYHEALTH_CONFIG_FILE: "+err.Error())
	}
}

func printable(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func notAnAddress(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return true
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err != nil
}

// pathCharacters leaves out what http.ServeMux gives a meaning of its own.
var pathCharacters = regexp.MustCompile(`^/[A-Za-z0-9._~/-]+$`)

// telemetryPathIsFree is false for the paths that keyhealth has, and for those
// that it is going to have.
func telemetryPathIsFree(p string) bool {
	return pathCharacters.MatchString(p) && path.Clean(p) == p && p != "/probe" && p != "/targets" &&
		p != "/-" && !strings.HasPrefix(p, "/-/") && p != "/api" && !strings.HasPrefix(p, "/api/")
}

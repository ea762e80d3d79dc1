// The rules that settings must keep beyond parsing, alone and together. What is
// true here is what serve relies on; nothing is dialled.

package main

import (
	"errors"
	"net"
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

	"keyhealth/collector/classify"
)

// validator collects the problems of a configuration whose settings parsed.
type validator struct {
	cfg      *config
	rows     []setting
	entry    *fileTarget // the target of the file whose settings these are; nil: none
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
	v.note(find(v.rows, prefix+name).broken(v.cfg.given[prefix+name].reveal(), err))
}

// refuse notes that settings which are fine by themselves do not go together.
func (v *validator) refuse(subject, rule string) {
	v.note(problem{subject: subject, rule: rule})
}

func (v *validator) note(p problem) {
	if v.entry != nil {
		p = v.entry.placed(p)
	} else if flag := v.cfg.flagOf[p.subject]; flag != "" {
		p.subject = flag
	}
	v.problems = append(v.problems, p)
}

func validate(cfg *config) []problem {
	v := &validator{cfg: cfg, rows: cfg.table()}
	file, problems := v.readFile()
	if cfg.keepsTargets && file.targets == nil && len(problems) == 0 {
		return []problem{{subject: cfg.ConfigFile, rule: "the file names no targets any more; a restart takes the targets from the environment"}}
	}
	v.scalars()
	if file.targets == nil {
		v.redis()
	}
	v.web()
	v.problems = append(v.problems, problems...)
	v.groups(file, len(problems) == 0)
	if file.targets != nil && len(v.problems) == 0 {
		v.targets(file.targets)
	}
	return v.problems
}

// readFile is empty where there is none, or has problems.
func (v *validator) readFile() (configFile, []problem) {
	nothing := configFile{Discovery: classify.DefaultDiscovery()}
	path := v.cfg.ConfigFile
	if path == "" {
		return nothing, nil
	}
	content, err := readRegular(path)
	if err != nil {
		row := find(v.rows, nameConfigFile)
		return nothing, []problem{row.broken(path, ruleError(row.rule+" ("+fileReason(err)+")"))}
	}
	return parseConfigFile(path, content)
}

// Bounds that nobody needs to pass, and arithmetic needs to have.
const (
	longestInterval = 365 * 24 * time.Hour
	mostKeys        = 1_000_000_000_000

	shortestSelfTest = 10 * time.Second // a run takes some hundred commands
)

// scalars are the rules of settings that each target has.
func (v *validator) scalars() {
	sweep := v.cfg.Sweep
	v.require(printable(v.cfg.TargetName), "TARGET_NAME")
	v.require(v.cfg.Redis.Timeout > 0, "REDIS_TIMEOUT")
	v.require(time.Duration(sweep.Interval) >= time.Second && time.Duration(sweep.Interval) <= longestInterval, "SWEEP_INTERVAL")
	v.require(sweep.MaxKeys >= 0 && sweep.MaxKeys <= mostKeys, "SWEEP_MAX_KEYS")
	v.require(sweep.Duty > 0 && sweep.Duty <= 1, "SWEEP_DUTY") // false for NaN too
	v.require(sweep.ScanCount >= 10 && sweep.ScanCount <= 1000, "SWEEP_SCAN_COUNT")
	stale := classify.Duration(v.cfg.StaleAfter)
	v.require(stale == 0 || stale >= sweep.Interval, "STALE_AFTER")
	v.require(sweep.FullEvery == 0 || sweep.FullEvery >= sweep.Interval, "SWEEP_FULL_EVERY")
	v.require(sweep.Pool >= 1 && sweep.Pool <= 100, "SWEEP_POOL")
	big := v.cfg.BigKey
	v.require(big.Bytes >= 1<<10 && big.Bytes <= 1<<50, "BIG_KEY_BYTES")
	v.require(big.Elements >= 100 && big.Elements <= mostKeys, "BIG_KEY_ELEMENTS")
	v.require(big.Budget == 0 || big.Budget >= 10 && big.Budget <= 100_000, "BIG_KEY_BUDGET")
	v.require(v.cfg.MaxGroups >= 1 && v.cfg.MaxGroups <= 10_000, "MAX_GROUPS")
	selfTest := time.Duration(v.cfg.SelftestInterval)
	v.require(selfTest == 0 || selfTest >= shortestSelfTest && selfTest <= longestInterval, "SELFTEST_INTERVAL")
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

// groups reads the rules: those of the setting before those of the file, which
// may have been read or not.
func (v *validator) groups(file configFile, read bool) {
	cfg := v.cfg
	quick, err := classify.ParseGroups(cfg.Groups)
	switch {
	case err == nil:
	case strings.Contains(cfg.Groups, "://"):
		v.require(false, "GROUPS") // looks like a URL, and err quotes it
		return
	case errors.Is(err, classify.ErrTwice):
		v.refuse(nameGroups, err.Error()+", which needs "+nameConfigFile)
		return
	default:
		v.add("GROUPS", ruleError(err.Error()))
		return
	}
	cfg.rules, cfg.discovery = slices.Concat(quick, file.Groups), file.Discovery
	if !read {
		return
	}
	if file.Presets != nil {
		if !cfg.given[namePresets].isEmpty() {
			v.refuse(namePresets, "must not be given together with presets in KEYHEALTH_CONFIG_FILE")
		}
		cfg.Presets = *file.Presets
	}
	if err := classify.ValidateRules(cfg.rules); err != nil {
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

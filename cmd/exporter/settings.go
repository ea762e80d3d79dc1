// The settings as a table: each field is one of them, its tags hold the default,
// the rule and the meaning that --help and docs/settings.md show. Rules about
// more than one setting are in validate.go.

package main

import (
	"cmp"
	"encoding"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/kelseyhightower/envconfig"

	"keyhealth/collector/classify"
)

// settings are read by envconfig: the name of a field, after those of the
// structs around it, is the name of its setting. A rule completes "KEYHEALTH_X:"
// in an error line; an example stands there where the default would not help.
type settings struct {
	TargetName       string        `split_words:"true" topic:"Redis" default:"redis" rule:"must be printable text" desc:"Value of the label target on every series about this Redis; of several targets each has its name from KEYHEALTH_CONFIG_FILE."`
	Redis            redisSettings //
	Sentinel         sentinelSettings
	Databases        databases         `topic:"Redis" default:"all" rule:"must be all, or numbers from 0 to 2147483647, each once, separated by commas" example:"0,3" desc:"Databases to sweep: all, or their numbers separated by commas. Not together with a database in the URL."`
	Groups           string            `topic:"Groups" rule:"must be [name=]glob[@window or @persistent], separated by commas" example:"api=rate_limit:*@60s" desc:"Groups in their quick form: [name=]glob[@window or @persistent], separated by commas. Keys of a group should have a TTL, of at most twice the window where one is given; those of a persistent group are meant to stay. Without a name the glob is the name. Example: api=rate_limit:*@60s,flags:*@persistent"`
	Presets          presetNames       `topic:"Groups" default:"distinctive" rule:"must be distinctive, all, none, or names of presets, separated by commas" example:"distinctive,kong" desc:"Groups that are known beforehand, of limiter libraries and gateways: distinctive (those whose names only one library writes), all, none, or their names, separated by commas; docs/presets.md lists them. Groups of your own come first. Not together with presets in KEYHEALTH_CONFIG_FILE. Example: distinctive,redis-rate"`
	ConfigFile       string            `split_words:"true" topic:"Groups" rule:"must be a YAML file that can be read" example:"/etc/keyhealth/keyhealth.yml" desc:"YAML file with groups, presets, discovery and targets; the groups of KEYHEALTH_GROUPS come first, and the first match wins. Read again on SIGHUP."`
	MaxGroups        whole             `split_words:"true" topic:"Groups" default:"100" rule:"must be a whole number from 1 to 10000" desc:"Pairs of a database and a group that are shown, 1 to 10000. The smallest discovered ones above it are folded into (other); described ones are always shown."`
	Sweep            sweepSettings     //
	StaleAfter       staleAfter        `split_words:"true" topic:"Sweep" default:"auto" rule:"must be auto, or a duration not below KEYHEALTH_SWEEP_INTERVAL" example:"5m" desc:"Data whose last reading is older is dropped from the metrics. auto is 3 times the interval, or 3 times as long as the last complete sweep took where that is more."`
	MemorySamples    whole             `split_words:"true" topic:"Sweep" default:"50" rule:"must be a whole number from 0 to 10000" desc:"MEMORY USAGE calls per group and sweep, 0 to 10000; 0 turns the memory estimates off."`
	BigKey           bigKeySettings    `split_words:"true"`
	SelftestInterval classify.Duration `split_words:"true" topic:"Self-test" default:"0" rule:"must be 0, or a duration from 10s to 365d" example:"1h" desc:"How often the self-test of the limiter is run, 10s to 365d, beside the sweeps; 0 turns it off. It is the only thing in serve that writes: a few keys that begin with keyhealth-selftest, which it removes."`
	Web              webSettings       //
	Log              logSettings       //
}

type redisSettings struct {
	URL           redisURL          `topic:"Redis" default:"redis://127.0.0.1:6379" example:"rediss://redis.example:6379/3" desc:"Where Redis is: redis://, rediss://, valkey:// or valkeys:// with [user:password@]host[:port][/database], or unix:///path/to/socket[?db=N]. Of a Cluster several seeds may be given, host:port,host:port; its nodes are found through the first that answers. redis+sentinel:// and the like, with host[:port],host[:port]/name[/database], asks Sentinels for the set of that name; user and password are the servers'. With a database only that one is swept. The doubled s is TLS. Special characters in user and password are percent-encoded."`
	Username      secret            `topic:"Redis" desc:"User of the ACL, where the URL holds neither user nor password."`
	Password      secret            `topic:"Redis" desc:"Password, where the URL holds none."`
	PasswordFile  string            `split_words:"true" topic:"Redis" hidden:"true" rule:"must be a file that can be read" example:"/run/secrets/redis" desc:"File with the password; read again on each connect, line breaks at its end do not count."`
	TLS           redisTLSSettings  //
	Cluster       autoBool          `topic:"Redis" default:"auto" rule:"must be auto, true or false" example:"true" desc:"auto: a node of a Cluster is taken for one, and all of its nodes are followed. true: anything else is refused. false: the one address is all there is, such as a proxy in front of a Cluster."`
	PreferReplica autoBool          `split_words:"true" topic:"Redis" default:"auto" rule:"must be auto, true or false" example:"false" desc:"Sweep a replica that is in sync, and not its primary, in a Cluster or a Sentinel set; auto is true there. A single server is never left for its replicas."`
	Timeout       classify.Duration `topic:"Redis" default:"3s" rule:"must be a duration above 0" desc:"Longest wait for a connection, a read or a write."`
}

type sentinelSettings struct {
	Username     secret `topic:"Redis" desc:"User of the Sentinels themselves, where they want one of their own."`
	PasswordFile string `split_words:"true" topic:"Redis" hidden:"true" rule:"must be a file that can be read" example:"/run/secrets/sentinel" desc:"File with the Sentinels' password; read again on each connect."`
}

type redisTLSSettings struct {
	CAFile     string `split_words:"true" topic:"Redis" rule:"must be a PEM file with certificates" example:"/etc/keyhealth/ca.pem" desc:"PEM file with the authorities that the server's certificate may come from; unset: those of the system. TLS files are read again when they change."`
	CertFile   string `split_words:"true" topic:"Redis" rule:"must be a PEM file with the client certificate of KEYHEALTH_REDIS_TLS_KEY_FILE" example:"/etc/keyhealth/client.pem" desc:"PEM file with a client certificate; needs the key file."`
	KeyFile    string `split_words:"true" topic:"Redis" hidden:"true" rule:"must be a PEM file with the key of KEYHEALTH_REDIS_TLS_CERT_FILE" example:"/etc/keyhealth/client.key" desc:"PEM file with the key of the client certificate."`
	ServerName string `split_words:"true" topic:"Redis" desc:"Name that the server's certificate must hold; unset: the host of the URL."`
	SkipVerify bool   `split_words:"true" topic:"Redis" default:"false" rule:"must be true or false" example:"true" desc:"true accepts any certificate of the server, and with it anybody in between."`
}

type sweepSettings struct {
	Interval  classify.Duration `topic:"Sweep" default:"60s" rule:"must be a duration from 1s to 365d" desc:"Time from the start of a sweep to the start of the next, 1s to 365d; sweeps never overlap. The second one comes a little early, so that many exporters do not sweep in step."`
	MaxKeys   whole             `split_words:"true" topic:"Sweep" default:"100000" rule:"must be a whole number from 0 to 1000000000000" desc:"Budget: the keys that a sweep examines per database. A larger database is sampled. 0 is every key."`
	Duty      float64           `topic:"Sweep" default:"0.10" rule:"must be a number above 0 and at most 1" desc:"Largest share of time that a sweep may keep Redis busy, above 0 and at most 1."`
	ScanCount whole             `split_words:"true" topic:"Sweep" default:"100" rule:"must be a whole number from 10 to 1000" desc:"Keys per round trip, 10 to 1000. More is faster, and other clients wait longer."`
	FullEvery classify.Duration `split_words:"true" topic:"Sweep" default:"0" rule:"must be 0, or a duration not below KEYHEALTH_SWEEP_INTERVAL" example:"6h" desc:"A database that is sampled is also walked whole this often, in slices between the samples: exact figures of groups too rare to sample. 0 turns it off."`
	Pool      whole             `topic:"Sweep" default:"10" rule:"must be a whole number from 1 to 100" desc:"A group with fewer than 1000 examined keys takes its figures from up to this many last samples, 1 to 100."`
	Timeout   classify.Duration `topic:"Sweep" default:"10m" rule:"must be a duration, 0 for none" desc:"A sweep that takes longer fails; 0 is none. Where KEYHEALTH_SWEEP_MAX_KEYS is 0 it applies only when set."`
}

type bigKeySettings struct {
	Bytes    byteSize `topic:"Sweep" default:"1MiB" rule:"must be a size from 1KiB to 1PiB" example:"512KiB" desc:"A key is big from this size on, by MEMORY USAGE, 1KiB to 1PiB: B, KiB, MiB, GiB."`
	Elements whole    `topic:"Sweep" default:"10000" rule:"must be a whole number from 100 to 1000000000000" desc:"Or from this number of elements on, 100 to 1000000000000."`
	Budget   whole    `topic:"Sweep" default:"1000" rule:"must be 0, or a whole number from 10 to 100000" desc:"Calls that a sweep spends on looking for big keys, collections first, 10 to 100000; 0 turns the search off."`
}

type webSettings struct {
	ListenAddress   []string `split_words:"true" topic:"Web" default:":10121" rule:"must be [host]:port, several separated by commas" desc:"Address to serve on, [host]:port; several are separated by commas. Without a host it is every interface; 127.0.0.1:10121 keeps it local."`
	ConfigFile      string   `split_words:"true" topic:"Web" rule:"must be a web configuration file" example:"/etc/keyhealth/web.yml" desc:"File with TLS and basic auth for the exporter's own pages, as of the Prometheus exporter toolkit."`
	TelemetryPath   string   `split_words:"true" topic:"Web" default:"/metrics" rule:"must be a path of letters, digits and . _ ~ - that keyhealth does not use otherwise" desc:"Path of the metrics."`
	EnableLifecycle bool     `split_words:"true" topic:"Web" default:"false" rule:"must be true or false" example:"true" desc:"true lets whoever reaches the port have KEYHEALTH_CONFIG_FILE read again, by POST /-/reload."`
}

type logSettings struct {
	Level  string `topic:"Log" default:"info" rule:"must be debug, info, warn or error" desc:"debug, info, warn or error."`
	Format string `topic:"Log" default:"logfmt" rule:"must be logfmt or json" desc:"logfmt or json."`
}

const (
	prefix = "KEYHEALTH_"

	nameRedisURL      = prefix + "REDIS_URL"
	nameTargetName    = prefix + "TARGET_NAME"
	nameDatabases     = prefix + "DATABASES"
	nameUsername      = prefix + "REDIS_USERNAME"
	namePassword      = prefix + "REDIS_PASSWORD"
	namePasswordFile  = prefix + "REDIS_PASSWORD_FILE"
	nameCluster       = prefix + "REDIS_CLUSTER"
	namePreferReplica = prefix + "REDIS_PREFER_REPLICA"
	nameSentinelUser  = prefix + "SENTINEL_USERNAME"
	nameSentinelFile  = prefix + "SENTINEL_PASSWORD_FILE"
	nameConfigFile    = prefix + "CONFIG_FILE"
	nameLifecycle     = prefix + "WEB_ENABLE_LIFECYCLE"
	prefixTLS         = prefix + "REDIS_TLS_"
	prefixSentinel    = prefix + "SENTINEL_"
	nameGroups        = prefix + "GROUPS"
	namePresets       = prefix + "PRESETS"
	nameSweepTimeout  = prefix + "SWEEP_TIMEOUT"
	nameSelfTest      = prefix + "SELFTEST_INTERVAL"
	nameListenAddress = prefix + "WEB_LISTEN_ADDRESS"
	nameWebConfigFile = prefix + "WEB_CONFIG_FILE"
	nameLogLevel      = prefix + "LOG_LEVEL"
	nameLogFormat     = prefix + "LOG_FORMAT"
)

// setting is one row of the table.
type setting struct {
	name    string
	initial string // the default; empty: none
	topic   string
	rule    string
	example string
	meaning string
	hidden  bool // its value is shown in no error line
	value   any
	field   reflect.Value // where the value is
}

// table lists the settings in the order of their fields, with their values in
// s. The names are those that envconfig itself looks for.
func (s *settings) table() []setting {
	var rows []setting
	add := func(name string, tags reflect.StructTag, field reflect.Value) string {
		row := setting{
			name:    name,
			initial: tags.Get("default"),
			topic:   tags.Get("topic"),
			rule:    tags.Get("rule"),
			example: tags.Get("example"),
			meaning: tags.Get("desc"),
			hidden:  tags.Get("hidden") != "",
			value:   field.Interface(),
			field:   field,
		}
		if row.example == "" {
			row.example = row.initial
		}
		switch row.value.(type) {
		case secret, redisURL:
			row.hidden = true
		}
		rows = append(rows, row)
		return ""
	}
	each := template.Must(template.New("").Funcs(template.FuncMap{"add": add}).
		Parse(`{{range .}}{{add .Key .Tags .Field}}{{end}}`))
	if err := envconfig.Usaget(strings.TrimSuffix(prefix, "_"), s, io.Discard, each); err != nil {
		panic(err) // the struct or the template is wrong: every test would fail
	}
	return rows
}

// fill reads the environment into s. Each setting that does not parse is a
// problem and keeps its default.
func (s *settings) fill() []problem {
	var problems []problem
	for {
		err := envconfig.Process(strings.TrimSuffix(prefix, "_"), s)
		if err == nil {
			return problems
		}
		parseError, ok := errors.AsType[*envconfig.ParseError](err)
		if !ok {
			return append(problems, problem{subject: "settings", rule: tidy(err)})
		}
		row := find(s.table(), parseError.KeyName)
		problems = append(problems, row.broken(parseError.Value, parseError.Err))
		// Process stops at the first: take it away to see the others.
		_ = os.Unsetenv(parseError.KeyName)
	}
}

// broken is the problem of a value that does not keep the setting's rule. The
// text of err stands for the rule where it was made for that.
func (row setting) broken(value string, err error) problem {
	p := problem{subject: row.name, value: value, rule: row.rule, example: row.example}
	if own, ok := errors.AsType[ruleError](err); ok {
		p.rule = own.Error()
	}
	if fitting, ok := errors.AsType[exampleError](err); ok {
		p.example = cmp.Or(fitting.example, p.example)
	}
	if row.hidden {
		p.value = ""
	}
	return p
}

// set reads a value as envconfig would.
func (row setting) set(text string) error {
	if value, ok := reflect.TypeAssert[encoding.TextUnmarshaler](row.field.Addr()); ok {
		return value.UnmarshalText([]byte(text))
	}
	switch row.field.Kind() {
	case reflect.Bool:
		parsed, err := strconv.ParseBool(text)
		row.field.SetBool(parsed)
		return err
	case reflect.Float64:
		parsed, err := strconv.ParseFloat(text, 64)
		row.field.SetFloat(parsed)
		return err
	default:
		row.field.SetString(text)
		return nil
	}
}

func find(rows []setting, name string) setting {
	i := slices.IndexFunc(rows, func(row setting) bool { return row.name == name })
	if i < 0 {
		return setting{name: name}
	}
	return rows[i]
}

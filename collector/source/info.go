// INFO's text by field name: servers differ in what they tell, so a field that
// is missing or no number is simply absent.

package source

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Info holds the fields of one INFO answer.
type Info struct {
	fields   map[string]string
	sections map[string]bool
}

// maxInfoFields bounds what a hostile server can make us keep. As many again may
// be databases: they come last, and Redis 7.0 writes a line before them for every
// error code that a script made up.
const maxInfoFields = 10_000

// ParseInfo reads INFO's "name:value" lines.
func ParseInfo(text string) Info {
	info := Info{fields: map[string]string{}, sections: map[string]bool{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if section, ok := strings.CutPrefix(line, "# "); ok {
			if section = strings.ToLower(section); len(info.sections) < maxInfoFields || section == "keyspace" {
				info.sections[section] = true
			}
			continue
		}
		limit := maxInfoFields
		if strings.HasPrefix(line, "db") {
			limit *= 2
		}
		if name, value, ok := strings.Cut(line, ":"); ok && len(info.fields) < limit {
			info.fields[name] = value
		}
	}
	return info
}

// Has says whether the server answered the section, even an empty one.
func (i Info) Has(section string) bool { return i.sections[section] }

// Text is a field's text as a valid label value, empty where there is none.
func (i Info) Text(field string) string {
	text := strings.ToValidUTF8(i.fields[field], "?")
	if len(text) > 64 {
		text = strings.ToValidUTF8(text[:64], "")
	}
	return text
}

// Number is a field's number, and whether there is one. INFO knows no negative
// or infinite quantities: those count as absent.
func (i Info) Number(field string) (float64, bool) { return number(i.fields[field]) }

func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 0)
}

// pairs reads "a=1,b=2".
func pairs(text string) map[string]float64 {
	found := map[string]float64{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		if n, ok := number(value); ok {
			found[name] = n
		}
	}
	return found
}

// DBSize is what INFO says of a database; both numbers include keys that have
// expired and are not reclaimed yet.
type DBSize struct {
	Keys    int64
	Expires int64 // keys with a TTL
}

// WithoutTTL is exact: a key without TTL cannot have expired.
func (d DBSize) WithoutTTL() int64 { return max(0, d.Keys-d.Expires) }

// Keyspace is the size of each database that has keys, and whether the server
// tells at all.
func (i Info) Keyspace() (map[int]DBSize, bool) {
	if !i.Has("keyspace") {
		return nil, false
	}
	sizes := map[int]DBSize{}
	for field, value := range i.fields {
		digits, ok := strings.CutPrefix(field, "db")
		db, err := strconv.Atoi(digits)
		if !ok || err != nil || db < 0 {
			continue
		}
		numbers := pairs(value)
		keys, ok := numbers["keys"]
		if !ok || keys >= math.MaxInt64 || numbers["expires"] > keys {
			return nil, false // it tells something that cannot be
		}
		sizes[db] = DBSize{Keys: int64(keys), Expires: int64(numbers["expires"])}
	}
	return sizes, true
}

// ErrorKinds are the error replies worth a series each; all are present at 0.
var ErrorKinds = []string{
	"OOM", "NOSCRIPT", "BUSY", "NOPERM", "READONLY", "MISCONF", "CROSSSLOT", "WRONGTYPE", "LOADING", "CLUSTERDOWN",
}

// ErrorReplies counts the error replies of a kind since the server's start.
func (i Info) ErrorReplies(kind string) float64 { return pairs(i.fields["errorstat_"+kind])["count"] }

// scriptCommands run scripts and functions on the server.
var scriptCommands = []string{"eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"}

// Script is what a server tells of one script command since its start.
type Script struct {
	Command   string
	Calls     uint64
	Seconds   float64             // total
	Failed    float64             // calls that ended in an error
	Quantiles map[float64]float64 // quantile to seconds
}

// Scripts are the script commands that were called.
func (i Info) Scripts() []Script {
	var scripts []Script
	for _, command := range scriptCommands {
		stats := pairs(i.fields["cmdstat_"+command])
		if !(stats["calls"] > 0 && stats["calls"] < math.MaxInt64) {
			continue
		}
		script := Script{
			Command:   command,
			Calls:     uint64(stats["calls"]),
			Seconds:   stats["usec"] / 1e6,
			Failed:    stats["failed_calls"],
			Quantiles: map[float64]float64{},
		}
		for name, usec := range pairs(i.fields["latency_percentiles_usec_"+command]) {
			if percent, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64); err == nil && percent >= 0 && percent <= 100 {
				script.Quantiles[math.Round(percent*1e3)/1e5] = usec / 1e6
			}
		}
		scripts = append(scripts, script)
	}
	return scripts
}

// Mode is standalone, cluster or sentinel; Valkey has a name of its own for it.
func (i Info) Mode() string { return cmp.Or(i.Text("redis_mode"), i.Text("server_mode")) }

// Role is master, replica or sentinel; empty where the server does not tell.
func (i Info) Role() string {
	if role := i.Text("role"); role != "slave" {
		return role
	}
	return "replica"
}

// Flavor names the software: redis, or what calls itself otherwise.
func (i Info) Flavor() string {
	if name := i.Text("server_name"); name != "" {
		return strings.ToLower(name)
	}
	return "redis"
}

// Version is the software's own version, not the Redis version it imitates.
func (i Info) Version() string {
	if version := i.Text(i.Flavor() + "_version"); version != "" {
		return version
	}
	return i.Text("redis_version")
}

// WalksStarveExpiry says whether a long sequential SCAN keeps this server from
// reclaiming expired keys (redis#15411): masters of Redis 7.2 and later and of
// every Valkey; a server that tells no version is taken for one.
func (i Info) WalksStarveExpiry() bool {
	if i.Role() == "replica" {
		return false
	}
	major, minor, ok := majorMinor(i.Text("redis_version"))
	return !ok || major > 7 || major == 7 && minor >= 2
}

// KnowsNoTouch says whether the server has CLIENT NO-TOUCH.
func (i Info) KnowsNoTouch() bool {
	major, minor, ok := majorMinor(i.Text("redis_version"))
	return ok && (major > 7 || major == 7 && minor >= 2)
}

func majorMinor(version string) (major, minor int, ok bool) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return major, minor, err1 == nil && err2 == nil
}

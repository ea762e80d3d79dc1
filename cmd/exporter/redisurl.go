// The address of a target. Errors here never hold any part of it: net/url's own
// ones quote the URL and are not passed on.

package main

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// redisURL is a parsed KEYHEALTH_REDIS_URL.
type redisURL struct {
	scheme    string
	network   string   // "tcp" or "unix"
	addresses []string // host:port, the one to ask first in front; or the path of the socket
	master    string   // of a Sentinel set: its name
	username  secret
	password  secret
	database  *int // the only one to sweep; nil: not said
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

// sentinelScheme is what follows the scheme of a server in that of its Sentinels.
const sentinelScheme = "+sentinel"

// masterName is what a Sentinel takes for a set. Nothing else is, such as what
// follows a slash in a password.
var masterName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// seedThenUser is a comma in what stands before the last @, with another @, or with
// a colon behind it: the seeds have begun before the user.
var seedThenUser = regexp.MustCompile(`(?s),.*[:@].*@|@.*,.*@`)

// secondScheme is that of an address after the first.
var secondScheme = regexp.MustCompile(`(?i)[,\s](redis|valkey)s?(\+sentinel)?://`)

const schemeRule = ruleError("must begin with redis://, rediss://, valkey://, valkeys://, unix://, or redis+sentinel:// and the like")

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *redisURL) UnmarshalText(text []byte) error {
	parsed, err := parseRedisURL(string(text))
	*u = parsed
	if rule, ok := errors.AsType[ruleError](err); ok {
		return exampleError{rule, exampleURL(string(text))}
	}
	return err
}

// exampleURL is of the kind that a faulty one seems to be; empty: of any.
func exampleURL(faulty string) string {
	scheme, rest, _ := strings.Cut(strings.ToLower(faulty), "://")
	switch {
	case strings.Contains(scheme, "sentinel"):
		return "redis+sentinel://redis-1.example:26379,redis-2.example:26379/mymaster"
	case scheme == "unix":
		return "unix:///run/redis/redis.sock"
	case strings.ContainsAny(rest[strings.LastIndexByte(rest, '@')+1:], ", "):
		return "redis://redis-1.example:6379,redis-2.example:6379"
	}
	return ""
}

// String is the URL without what it says about a user.
func (u redisURL) String() string {
	if u.scheme == "" {
		return ""
	}
	text := u.scheme + "://"
	if u.hasUser() {
		text += hidden + "@"
	}
	text += strings.Join(u.addresses, ",")
	if u.isSentinel() {
		text += "/" + u.master
	}
	switch {
	case u.database == nil:
	case u.network == "unix":
		text += "?db=" + strconv.Itoa(*u.database)
	default:
		text += "/" + strconv.Itoa(*u.database)
	}
	return text
}

func (u redisURL) hasUser() bool { return !u.username.isEmpty() || !u.password.isEmpty() }

func (u redisURL) isSentinel() bool { return strings.HasSuffix(u.scheme, sentinelScheme) }

func (u redisURL) usesTLS() bool {
	scheme := strings.TrimSuffix(u.scheme, sentinelScheme)
	return scheme == "rediss" || scheme == "valkeys"
}

func parseRedisURL(text string) (redisURL, error) {
	scheme, rest, found := strings.Cut(text, "://")
	u := redisURL{scheme: strings.ToLower(scheme), network: "tcp"}
	switch {
	case u.scheme == "unix" && found:
		u.network = "unix"
	case found && strings.Contains(u.scheme, "sentinel") && !u.isSentinel():
		return redisURL{}, ruleError("must name Sentinels in the form redis+sentinel://HOST:PORT/NAME, or rediss+sentinel:// for TLS")
	case !found || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, strings.TrimSuffix(u.scheme, sentinelScheme)):
		return redisURL{}, schemeRule
	}
	var further []string
	if u.network == "tcp" {
		if secondScheme.MatchString(rest) {
			return redisURL{}, ruleError("must hold " + u.scheme + ":// once: " + u.scheme + "://HOST:PORT,HOST:PORT")
		}
		rest, further = cutSeeds(rest)
		if strings.ContainsFunc(rest[strings.LastIndexByte(rest, '@')+1:]+strings.Join(further, ""), unicode.IsSpace) {
			return redisURL{}, ruleError("must hold no space: several addresses are separated by commas, HOST:PORT,HOST:PORT")
		}
	}
	parsed, err := url.Parse(scheme + "://" + rest)
	if err != nil {
		return redisURL{}, ruleError("cannot be read as a URL: in user and password every special character is percent-encoded (@ as %40, / as %2F, # as %23, % as %25)")
	}
	if strings.Contains(text, "#") {
		return redisURL{}, ruleError("must not hold a #: in a password it is written %23")
	}
	if user := text[:strings.LastIndexByte(text, '@')+1]; u.network == "tcp" && seedThenUser.MatchString(user) {
		return redisURL{}, ruleError("must hold a user and password once, before the first seed; in a password @ is written %40, and a comma %2C")
	}
	password, _ := parsed.User.Password()
	u.username, u.password = newSecret(parsed.User.Username()), newSecret(password)
	if u.network == "unix" {
		err = u.readSocket(parsed)
	} else {
		err = u.readSeeds(parsed, further)
	}
	if err == nil {
		err = u.readPath(parsed)
	}
	if err != nil {
		return redisURL{}, err
	}
	return u, nil
}

// cutSeeds takes the hosts after the first out of what follows the scheme:
// url.Parse takes a list of them for a faulty port.
func cutSeeds(text string) (without string, further []string) {
	end := strings.IndexAny(text, "/?#")
	if end < 0 {
		end = len(text)
	}
	host := strings.LastIndexByte(text[:end], '@') + 1
	seeds := strings.Split(text[host:end], ",")
	return text[:host] + seeds[0] + text[end:], seeds[1:]
}

func (u *redisURL) readSocket(parsed *url.URL) error {
	switch {
	case parsed.Host != "" || len(parsed.Path) < 2:
		return ruleError("must hold the absolute path of the socket, with three slashes: unix:///run/redis.sock")
	case strings.Contains(parsed.Path, ",/"), strings.Contains(parsed.Path, ",unix:"):
		return ruleError("must hold one socket: several seeds are addresses of the form host:port")
	}
	u.addresses = []string{parsed.Path}
	return nil
}

func (u *redisURL) readSeeds(first *url.URL, further []string) error {
	seeds := []*url.URL{first}
	for _, text := range further {
		seed, err := url.Parse("redis://" + text)
		if err != nil {
			return ruleError("has a seed that cannot be read: they are written host:port and separated by commas")
		}
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		address, err := u.hostPort(seed)
		if err != nil {
			return err
		}
		if slices.Contains(u.addresses, address) {
			return ruleError("must not name an address twice")
		}
		u.addresses = append(u.addresses, address)
	}
	return nil
}

func (u *redisURL) hostPort(parsed *url.URL) (string, error) {
	usual := redisPort
	if u.isSentinel() {
		usual = sentinelPort
	}
	host, port := parsed.Hostname(), parsed.Port()
	if host == "" {
		return "", ruleError("has no host")
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(parsed.Host, "[") {
		return "", ruleError("must hold an IPv6 address in brackets")
	}
	if port == "" {
		port = usual
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", ruleError("must have a port from 1 to 65535, or none for " + usual)
	}
	return net.JoinHostPort(host, port), nil
}

// readPath reads "/3" and, as go-redis has it too, "?db=3"; of a Sentinel set
// the name stands before the database.
func (u *redisURL) readPath(parsed *url.URL) error {
	var texts []string
	if path := strings.TrimPrefix(parsed.EscapedPath(), "/"); u.network == "tcp" {
		if u.isSentinel() {
			var name string
			name, path, _ = strings.Cut(path, "/")
			u.master = name
			if !masterName.MatchString(u.master) {
				return ruleError("must name the set that the Sentinels watch, by letters, digits and . _ -: redis+sentinel://HOST:PORT,HOST:PORT/mymaster")
			}
		}
		if path != "" {
			texts = append(texts, path)
		}
	}
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return ruleError("has a query that cannot be read: only db=N may follow a question mark")
	}
	for name, values := range query {
		if name != "db" {
			return ruleError("has an unknown query parameter: only db=N may follow a question mark, TLS and timeouts are settings of their own")
		}
		texts = append(texts, values...)
	}
	if len(texts) == 0 {
		return nil
	}
	number, err := databaseNumber(texts[0])
	if err != nil || len(texts) > 1 {
		return ruleError("must name at most one database, by its number: redis://HOST:PORT/3, or unix:///PATH?db=3")
	}
	u.database = &number
	return nil
}

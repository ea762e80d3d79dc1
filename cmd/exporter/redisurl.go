// The address of Redis. Errors here never hold any part of it: net/url's own
// ones quote the URL and are not passed on.

package main

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// redisURL is a parsed KEYHEALTH_REDIS_URL.
type redisURL struct {
	scheme   string
	network  string // "tcp" or "unix"
	address  string // host:port, or the path of the socket
	username secret
	password secret
	database *int // the only one to sweep; nil: not said
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *redisURL) UnmarshalText(text []byte) error {
	parsed, err := parseRedisURL(string(text))
	*u = parsed
	return err
}

// String is the URL without what it says about a user.
func (u redisURL) String() string {
	text := u.scheme + "://"
	if u.hasUser() {
		text += hidden + "@"
	}
	text += u.address
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

func (u redisURL) usesTLS() bool { return u.scheme == "rediss" || u.scheme == "valkeys" }

func parseRedisURL(text string) (redisURL, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return redisURL{}, ruleError("must begin with redis://, rediss://, valkey://, valkeys:// or unix://")
	}
	scheme = strings.ToLower(scheme)
	network := "tcp"
	switch scheme {
	case "redis", "rediss", "valkey", "valkeys":
	case "unix":
		network = "unix"
	case "redis+sentinel", "rediss+sentinel", "valkey+sentinel", "valkeys+sentinel":
		return redisURL{}, ruleError("this version does not have Sentinel yet: name one Redis server")
	default:
		return redisURL{}, ruleError("must begin with redis://, rediss://, valkey://, valkeys:// or unix://")
	}
	if network == "tcp" && hasSeeds(rest) {
		return redisURL{}, ruleError("this version does not have several seeds yet: name one Redis server")
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return redisURL{}, ruleError("cannot be read as a URL: in user and password every special character is percent-encoded (@ as %40, / as %2F, # as %23, % as %25)")
	}
	if strings.Contains(text, "#") {
		return redisURL{}, ruleError("must not hold a #: in a password it is written %23")
	}
	u := redisURL{scheme: scheme, network: network}
	password, _ := parsed.User.Password()
	u.username, u.password = newSecret(parsed.User.Username()), newSecret(password)
	if network == "unix" {
		u.address, err = socketPath(parsed)
	} else {
		u.address, err = hostPort(parsed)
	}
	if err == nil {
		u.database, err = urlDatabase(parsed, network)
	}
	if err != nil {
		return redisURL{}, err
	}
	return u, nil
}

// hasSeeds looks for a comma in the hosts: url.Parse takes the list for a
// faulty port.
func hasSeeds(rest string) bool {
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest[strings.LastIndexByte(rest, '@')+1:], ",")
}

func socketPath(parsed *url.URL) (string, error) {
	if parsed.Host != "" || len(parsed.Path) < 2 {
		return "", ruleError("must hold the absolute path of the socket, with three slashes: unix:///run/redis.sock")
	}
	return parsed.Path, nil
}

func hostPort(parsed *url.URL) (string, error) {
	host, port := parsed.Hostname(), parsed.Port()
	if host == "" {
		return "", ruleError("has no host")
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(parsed.Host, "[") {
		return "", ruleError("must hold an IPv6 address in brackets")
	}
	if port == "" {
		port = "6379"
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", ruleError("must have a port from 1 to 65535, or none for 6379")
	}
	return net.JoinHostPort(host, port), nil
}

// urlDatabase reads "/3" and, as go-redis has it too, "?db=3".
func urlDatabase(parsed *url.URL, network string) (*int, error) {
	var texts []string
	if path := strings.TrimPrefix(parsed.Path, "/"); network == "tcp" && path != "" {
		texts = append(texts, path)
	}
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return nil, ruleError("has a query that cannot be read: only db=N may follow a question mark")
	}
	for name, values := range query {
		if name != "db" {
			return nil, ruleError("has an unknown query parameter: only db=N may follow a question mark, TLS and timeouts are settings of their own")
		}
		texts = append(texts, values...)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	number, err := databaseNumber(texts[0])
	if err != nil || len(texts) > 1 {
		return nil, ruleError("must name at most one database, by its number: redis://HOST:PORT/3, or unix:///PATH?db=3")
	}
	return &number, nil
}

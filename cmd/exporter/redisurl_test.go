package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestRedisURL(t *testing.T) {
	tests := []struct {
		text string
		want string // network address user password database TLS, shown; or the start of the error
	}{
		{"redis://h", "tcp h:6379 - - - false redis://h:6379"},
		{"redis://h:1234", "tcp h:1234 - - - false redis://h:1234"},
		{"redis://h:", "tcp h:6379 - - - false redis://h:6379"},
		{"redis://h/", "tcp h:6379 - - - false redis://h:6379"},
		{"redis://h/3", "tcp h:6379 - - 3 false redis://h:6379/3"},
		{"redis://h/0", "tcp h:6379 - - 0 false redis://h:6379/0"},
		{"redis://h?db=3", "tcp h:6379 - - 3 false redis://h:6379/3"},
		{"REDISS://h:1", "tcp h:1 - - - true rediss://h:1"},
		{"valkey://h", "tcp h:6379 - - - false valkey://h:6379"},
		{"valkeys://h", "tcp h:6379 - - - true valkeys://h:6379"},
		{"redis://10.0.0.1:7", "tcp 10.0.0.1:7 - - - false redis://10.0.0.1:7"},
		{"redis://[::1]", "tcp [::1]:6379 - - - false redis://[::1]:6379"},
		{"redis://[fe80::1%25eth0]:7/2", "tcp [fe80::1%eth0]:7 - - 2 false redis://[fe80::1%eth0]:7/2"},
		{"redis://:p@h", "tcp h:6379 - p - false redis://<hidden>@h:6379"},
		{"redis://:@h", "tcp h:6379 - - - false redis://h:6379"},
		{"redis://u:p@h:1/3", "tcp h:1 u p 3 false redis://<hidden>@h:1/3"},
		{"redis://u:p@s@h", "tcp h:6379 u p@s - false redis://<hidden>@h:6379"},
		{"redis://u%3A:%40%2F%23%25%3F%0A,@h", "tcp h:6379 u: @/#%?\n, - false redis://<hidden>@h:6379"},
		{"redis://h1,h2:7,[::1]/3", "tcp h1:6379 h2:7 [::1]:6379 - - 3 false redis://h1:6379,h2:7,[::1]:6379/3"},
		{"rediss://u:p,q@h1:1,h2", "tcp h1:1 h2:6379 u p,q - true rediss://<hidden>@h1:1,h2:6379"},
		{"redis+sentinel://h1,h2:7/mymaster", "tcp h1:26379 h2:7 - - - false redis+sentinel://h1:26379,h2:7/mymaster"},
		{"Redis+Sentinel://h1/my-master_1.x/3", "tcp h1:26379 - - 3 false redis+sentinel://h1:26379/my-master_1.x/3"},
		{"rediss+sentinel://u:p@h1/m?db=3", "tcp h1:26379 u p 3 true rediss+sentinel://<hidden>@h1:26379/m/3"},
		{"valkey+sentinel://h1/m", "tcp h1:26379 - - - false valkey+sentinel://h1:26379/m"},
		{"valkeys+sentinel://[::1]:5/m", "tcp [::1]:5 - - - true valkeys+sentinel://[::1]:5/m"},
		{"unix:///run/redis.sock", "unix /run/redis.sock - - - false unix:///run/redis.sock"},
		{"unix:///run/redis.sock?db=3", "unix /run/redis.sock - - 3 false unix:///run/redis.sock?db=3"},
		{"unix://u:p@/run/redis.sock", "unix /run/redis.sock u p - false unix://<hidden>@/run/redis.sock"},

		{"", "must begin with redis://"},
		{"localhost:6379", "must begin with redis://"},
		{"http://h", "must begin with redis://"},
		{"redis://h1,h2,h1:6379", "must not name an address twice"},
		{"redis://h1,", "has no host"},
		{"redis://,h1", "has no host"},
		{"redis://h1,h2:0", "must have a port from 1"},
		{"redis://h1,h 2", "must hold no space"},
		{"redis://h1, h2", "must hold no space: several addresses are separated by commas"},
		{"redis://h:6379 h2:6379", "must hold no space: several addresses are separated by commas"},
		{"redis://h:6379,redis://h2:6379", "must hold redis:// once: redis://HOST:PORT,HOST:PORT"},
		{"rediss://u:p@h,rediss://u:p@h2", "must hold rediss:// once"},
		{"redis://h redis://h2", "must hold redis:// once"},
		{"redis://h1,h2:x", "has a seed that cannot be read"},
		{"redis://h1,::1", "must hold an IPv6 address in brackets"},
		{"redis://u:p@h1,u:p@h2", "must hold a user and password once"},
		{"redis://h:1,u:hunter2@i:2", "must hold a user and password once, before the first seed"},
		{"redis://h,u:hunter2@i:2", "must hold a user and password once, before the first seed"},
		{"unix:///a.sock,/b.sock", "must hold one socket"},
		{"unix://h1,h2", "must hold the absolute path"},
		{"redis+sentinel://h1,h2", "must name the set"},
		{"redis+sentinel://h1,h2/", "must name the set"},
		{"redis+sentinel://u:12/p@h1/m", "must name the set"},
		{"redis+sentinel://h1/m%2F", "must name the set"},
		{"redis+sentinel://h1/m/x", "must name at most one database"},
		{"redis+sentinel://h1/m/1/2", "must name at most one database"},
		{"redis+sentinel://h1:0/m", "must have a port from 1 to 65535, or none for 26379"},
		{"unix+sentinel://h1/m", "must begin with redis://"},
		{"sentinel://h1/m", "must name Sentinels in the form redis+sentinel://HOST:PORT/NAME"},
		{"redis-sentinel://h1/m", "must name Sentinels in the form redis+sentinel://"},
		{"unix:///a.sock,unix:///b.sock", "must hold one socket"},
		{"redis+sentinel", "must begin with redis://"},
		{"redis", "must begin with redis://"},
		{"redis://", "has no host"},
		{"redis://:6379", "has no host"},
		{"redis:///3", "has no host"},
		{"redis://h:0", "must have a port from 1"},
		{"redis://h:65536", "must have a port from 1"},
		{"redis://h:x", "cannot be read as a URL"},
		{"redis://h h", "must hold no space"},
		{"redis://u:p p@h", "cannot be read as a URL"},
		{"redis://h\n", "must hold no space"},
		{"redis://:%zz@h", "cannot be read as a URL"},
		{"redis://::1", "must hold an IPv6 address in brackets"},
		{"redis://h/x", "must name at most one database"},
		{"redis://h/-1", "must name at most one database"},
		{"redis://h/1/2", "must name at most one database"},
		{"redis://h/2147483648", "must name at most one database"},
		{"redis://h/1?db=1", "must name at most one database"},
		{"redis://h?db=1&db=2", "must name at most one database"},
		{"redis://h?db=", "must name at most one database"},
		{"redis://h?dial_timeout=3s", "has an unknown query parameter"},
		{"redis://h?db=%zz", "has a query that cannot be read"},
		{"redis://h#3", "must not hold a #"},
		{"redis://h#", "must not hold a #"},
		{"unix://run/redis.sock", "must hold the absolute path"},
		{"unix:///", "must hold the absolute path"},
		{"unix:///run/redis.sock?x=1", "has an unknown query parameter"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got := ""
			if u, err := parseRedisURL(test.text); err != nil {
				if got = err.Error(); strings.HasPrefix(got, test.want) {
					return
				}
			} else {
				got = describeURL(u)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func describeURL(u redisURL) string {
	database := "-"
	if u.database != nil {
		database = fmt.Sprint(*u.database)
	}
	dash := func(s secret) string {
		if s.isEmpty() {
			return "-"
		}
		return s.reveal()
	}
	text := fmt.Sprintln(u.network, strings.Join(u.addresses, " "), dash(u.username), dash(u.password), database, u.usesTLS(), u)
	return strings.TrimSuffix(text, "\n")
}

// FuzzRedisURL: any user and password arrive as they are when they are
// percent-encoded, and show in no text about the URL.
func FuzzRedisURL(f *testing.F) {
	f.Add("alice", "hunter2", "h:6379/3")
	f.Add("a:b@c", "/?#[]@!$&'()*+,;=%", "[::1]")
	f.Add("", "\x00\xff\n", "h:port")
	f.Fuzz(func(t *testing.T, username, password, rest string) {
		user := url.UserPassword(username, password).String()
		u, err := parseRedisURL("redis://" + user + "@" + rest)
		if err != nil {
			if len(rest) > 12 && strings.Contains(err.Error(), rest) {
				t.Errorf("%q shows in %q", rest, err)
			}
			return
		}
		if !strings.Contains(rest, "@") && (u.username.reveal() != username || u.password.reveal() != password) {
			t.Errorf("got %q %q, want %q %q", u.username.reveal(), u.password.reveal(), username, password)
		}
		if strings.Contains(u.String(), hidden+"@") != u.hasUser() {
			t.Errorf("user is not hidden as it should be: %s", u)
		}
	})
}

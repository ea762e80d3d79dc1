package source

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestInfoOfRedis7(t *testing.T) {
	text, err := os.ReadFile("testdata/info/redis7.txt")
	if err != nil {
		t.Fatal(err)
	}
	crlf := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n", "\r\n")
	endings := map[string]string{"crlf": crlf, "lf": strings.ReplaceAll(crlf, "\r\n", "\n"), "no last end": strings.TrimRight(crlf, "\r\n")}
	for name, text := range endings {
		t.Run(name, func(t *testing.T) { checkRedis7(t, ParseInfo(text)) })
	}
}

func checkRedis7(t *testing.T, info Info) {
	t.Helper()
	if info.Role() != "master" || info.Flavor() != "redis" || info.Version() != "7.0.15" || info.Text("maxmemory_policy") != "volatile-lru" {
		t.Errorf("%s %s %s %s", info.Role(), info.Flavor(), info.Version(), info.Text("maxmemory_policy"))
	}
	for field, want := range map[string]float64{"used_memory": 1194400, "maxmemory": 67108864, "expired_stale_perc": 0.14, "evicted_keys": 0} {
		if n, ok := info.Number(field); !ok || n != want {
			t.Errorf("%s: %v, %v", field, n, ok)
		}
	}
	for _, field := range []string{"used_memory_human", "used_memory_peak_perc", "second_repl_offset", "config_file", "no_such_field"} {
		if n, ok := info.Number(field); ok { // text, a percentage, -1, empty, missing
			t.Errorf("%s: %v", field, n)
		}
	}
	for _, section := range []string{"server", "modules", "errorstats", "keyspace"} {
		if !info.Has(section) {
			t.Errorf("no section %s", section)
		}
	}
	sizes, told := info.Keyspace()
	if !told || !maps.Equal(sizes, map[int]DBSize{0: {Keys: 51, Expires: 41}, 3: {Keys: 2, Expires: 1}}) || sizes[0].WithoutTTL() != 10 {
		t.Errorf("keyspace %v, %v", sizes, told)
	}
	for kind, want := range map[string]float64{"OOM": 1, "WRONGTYPE": 2, "NOSCRIPT": 1, "BUSY": 0} {
		if n := info.ErrorReplies(kind); n != want {
			t.Errorf("%s: %v", kind, n)
		}
	}
	scripts := info.Scripts()
	if len(scripts) != 2 || scripts[0].Command != "eval" || scripts[1].Command != "evalsha" {
		t.Fatalf("scripts: %+v", scripts)
	}
	s := scripts[1]
	if s.Calls != 6 || s.Seconds != 98e-6 || s.Failed != 1 || !maps.Equal(s.Quantiles, map[float64]float64{0.5: 11.007e-6, 0.99: 32.127e-6, 0.999: 32.127e-6}) {
		t.Errorf("evalsha: %+v", s)
	}
}

func TestInfoOfOtherServers(t *testing.T) {
	tests := []struct {
		name, text            string
		flavor, version, role string
		starves               bool
		keyspace              map[int]DBSize // nil: the server does not tell
	}{
		{name: "nothing", flavor: "redis", starves: true},
		{
			name:   "a stub", // miniredis answers no more than this
			text:   "# Clients\nconnected_clients:1\r\n# Stats\ntotal_connections_received:1\r\ntotal_commands_processed:2\r\n",
			flavor: "redis", starves: true,
		},
		{
			name:   "Valkey",
			text:   "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\n# Replication\r\nrole:master\r\n# Keyspace\r\ndb0:keys=5,expires=2,avg_ttl=0,keys_with_volatile_items=1\r\n",
			flavor: "valkey", version: "8.1.0", role: "master", starves: true, keyspace: map[int]DBSize{0: {5, 2}},
		},
		{
			name:   "a replica of Valkey, which calls itself in capitals",
			text:   "redis_version:7.2.4\nserver_name:Valkey\nvalkey_version:9.0.0\nrole:slave\n# keyspace\n",
			flavor: "valkey", version: "9.0.0", role: "replica", keyspace: map[int]DBSize{},
		},
		{name: "a name without a version", text: "redis_version:6.2.0\nserver_name:fork\n", flavor: "fork", version: "6.2.0"},
		{name: "Redis 6", text: "redis_version:6.2.14\nrole:master\n", flavor: "redis", version: "6.2.14", role: "master"},
		{name: "Redis 7.2", text: "redis_version:7.2.0\nrole:master\n", flavor: "redis", version: "7.2.0", role: "master", starves: true},
		{name: "Redis 8", text: "redis_version:8.0.0\nrole:master\n", flavor: "redis", version: "8.0.0", role: "master", starves: true},
		{name: "unstable", text: "redis_version:255.255.255\nrole:master\n", flavor: "redis", version: "255.255.255", role: "master", starves: true},
		{name: "a strange version", text: "redis_version:seven\nrole:master\n", flavor: "redis", version: "seven", role: "master", starves: true},
		{name: "sentinel", text: "redis_version:7.0.0\nrole:sentinel\n", flavor: "redis", version: "7.0.0", role: "sentinel"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			info := ParseInfo(test.text)
			if info.Flavor() != test.flavor || info.Version() != test.version || info.Role() != test.role || info.WalksStarveExpiry() != test.starves {
				t.Errorf("flavor %q, version %q, role %q, starves %v", info.Flavor(), info.Version(), info.Role(), info.WalksStarveExpiry())
			}
			sizes, told := info.Keyspace()
			if told != (test.keyspace != nil) || !maps.Equal(sizes, test.keyspace) {
				t.Errorf("keyspace %v, %v", sizes, told)
			}
			if _, ok := info.Number("used_memory"); ok || len(info.Scripts()) != 0 || info.ErrorReplies("OOM") != 0 {
				t.Error("numbers that no server told")
			}
		})
	}
}

func TestInfoNumbers(t *testing.T) {
	for _, text := range []string{"", " ", "1 ", "-1", "-0.5", "NaN", "nan", "Inf", "+Inf", "-Inf", "infinity", "1e999", "12%", "1.5M", "a", "1,2", "0x", "\xff"} {
		if n, ok := ParseInfo("a:" + text + "\r\n").Number("a"); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
	for text, want := range map[string]float64{"0": 0, "0.00": 0, "1.5": 1.5, "18446744073709551615": 1 << 64, "1e300": 1e300} {
		if n, ok := ParseInfo("a:" + text + "\r\n").Number("a"); !ok || n != want {
			t.Errorf("%q is %v, %v", text, n, ok)
		}
	}
}

func TestKeyspaceFromStrangers(t *testing.T) {
	const text = "# Keyspace\ndb0:keys=5,expires=0\ndb-1:keys=1\ndbx:keys=1\ndb:keys=1\ndb99999999999999999999:keys=1\n" +
		"db8:avg_ttl=-1,expires=3,keys=4\ndb9:keys=7\ndb11:keys=9223372036854774784,expires=1\n"
	sizes, told := ParseInfo(text).Keyspace()
	want := map[int]DBSize{0: {5, 0}, 8: {4, 3}, 9: {7, 0}, 11: {math.MaxInt64 - 1023, 1}}
	if !told || !maps.Equal(sizes, want) {
		t.Errorf("%v, %v, want %v", sizes, told, want)
	}
	for _, line := range []string{"expires=1", "keys=1,expires=2", "keys=NaN", "keys=-1", "keys=1e30", "", "keys", "keys=9223372036854775807"} {
		if sizes, told := ParseInfo(text + "db3:" + line + "\n").Keyspace(); told {
			t.Errorf("with db3:%s: %v; a number that is not known is no 0", line, sizes)
		}
	}
}

func TestScriptsFromStrangers(t *testing.T) {
	const text = "cmdstat_eval:calls=0,usec=0\ncmdstat_evalsha:calls=NaN,usec=1\ncmdstat_fcall:calls=1e30\ncmdstat_eval_ro:usec=1\n" +
		"cmdstat_fcall_ro:calls=2,usec=-1,failed_calls=Inf\nlatency_percentiles_usec_fcall_ro:p50=1,pNaN=2,p101=3,p-1=4,=5,p99.999=6,p50.0=NaN\n"
	scripts := ParseInfo(text).Scripts()
	if len(scripts) != 1 || scripts[0].Command != "fcall_ro" || scripts[0].Calls != 2 || scripts[0].Seconds != 0 || scripts[0].Failed != 0 {
		t.Fatalf("%+v", scripts)
	}
	if q := slices.Sorted(maps.Keys(scripts[0].Quantiles)); !slices.Equal(q, []float64{0.5, 0.99999}) {
		t.Errorf("quantiles %v", q)
	}
}

// Redis 7.0 counts every error code that a script makes up, in lines of their
// own before the keyspace: those must not push the sizes out.
func TestInfoOfAMillionLines(t *testing.T) {
	var text strings.Builder
	text.WriteString("# Errorstats\r\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "errorstat_E%d:count=1\r\n", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&text, "# section %d\r\n", i)
	}
	text.WriteString("# Keyspace\r\ndb0:keys=7,expires=2\r\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "dbx%d:keys=1\r\n", i)
	}
	info := ParseInfo(text.String())
	if sizes, told := info.Keyspace(); !told || !maps.Equal(sizes, map[int]DBSize{0: {7, 2}}) {
		t.Errorf("the keyspace is lost: %v, %v", sizes, told)
	}
	if len(info.fields) > 2*maxInfoFields || len(info.sections) > maxInfoFields+1 {
		t.Errorf("%d fields and %d sections are kept", len(info.fields), len(info.sections))
	}
}

func TestInfoText(t *testing.T) {
	for text, want := range map[string]string{
		"volatile-lru": "volatile-lru", "a:b": "a:b", "a\xffb": "a?b", strings.Repeat("a", 99): strings.Repeat("a", 64),
		strings.Repeat("a", 63) + "\u00e9": strings.Repeat("a", 63),
	} {
		if got := ParseInfo("a:" + text).Text("a"); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func FuzzParseInfo(f *testing.F) {
	if text, err := os.ReadFile("testdata/info/redis7.txt"); err == nil {
		f.Add(string(text))
	}
	for _, seed := range []string{
		"", "# Keyspace\r\ndb0:keys=1,expires=1\r\n", "cmdstat_eval:calls=1,usec=NaN\nlatency_percentiles_usec_eval:p50=1,pInf=2", "role:slave\nserver_name:\xff\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		info := ParseInfo(text)
		sound := func(what string, numbers ...float64) {
			for _, n := range numbers {
				if !(n >= 0 && n <= math.MaxFloat64) {
					t.Errorf("%s: %v", what, n)
				}
			}
		}
		for field := range info.fields {
			if n, ok := info.Number(field); ok {
				sound(field, n)
			}
			if label := info.Text(field); !utf8.ValidString(label) || len(label) > 64 {
				t.Errorf("%s: %q is no label value", field, label)
			}
		}
		sizes, _ := info.Keyspace()
		for db, size := range sizes {
			if db < 0 || size.Expires < 0 || size.Keys < size.Expires || size.WithoutTTL() != size.Keys-size.Expires {
				t.Errorf("database %d: %+v", db, size)
			}
		}
		for _, s := range info.Scripts() {
			sound(s.Command, s.Seconds, s.Failed)
			for q, seconds := range s.Quantiles {
				sound(s.Command, seconds, q, 1-q)
			}
		}
		for _, kind := range ErrorKinds {
			sound(kind, info.ErrorReplies(kind))
		}
		_, _, _ = info.Role(), info.Version(), info.WalksStarveExpiry()
	})
}

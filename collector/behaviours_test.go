// What limiter libraries were seen to do to a Redis, replayed on a real one:
// each must end in the right series, with exact numbers.

package collector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"keyhealth/collector/classify"
)

// behaviour is one fault of a library, and the numbers that must come of it.
type behaviour struct {
	group   string
	story   []command
	keys    int
	without int // keys without TTL, all of them zombies
	leaked  int
	atRisk  int
	absurd  int // TTLs
	out     int // locked out; -1: the group has no limit
}

// each repeats commands for callers 1 to n, who stand as {i}.
func each(n int, story ...command) []command {
	var all []command
	for i := 1; i <= n; i++ {
		for _, c := range story {
			words := make(command, len(c))
			for j, word := range c {
				words[j] = strings.ReplaceAll(word, "{i}", fmt.Sprint(i))
			}
			all = append(all, words)
		}
	}
	return all
}

var behaviours = []behaviour{
	{ // a number is never equal to a text, so the TTL is never set
		group: "upstash-ratelimit", keys: 20, without: 20, leaked: 20, out: -1,
		story: each(20, command{"EVAL", "if redis.call('INCRBY', KEYS[1], ARGV[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], 60000) end",
			"1", "@upstash/ratelimit:10.0.0.{i}:28333334", "1"}),
	},
	{ // EXPIRE before the first write; a second hit heals three of the callers
		group: "throttled-py", keys: 10, without: 7, out: -1,
		story: slices.Concat(each(10, command{"EXPIRE", "throttled:v1:leaking_bucket:{i}", "120"}, command{"HSET", "throttled:v1:leaking_bucket:{i}", "tokens", "1"}),
			each(3, command{"EXPIRE", "throttled:v1:leaking_bucket:{i}", "120"}, command{"HSET", "throttled:v1:leaking_bucket:{i}", "tokens", "2"})),
	},
	{ // the client's clock is behind by more than the window; a right clock heals two
		group: "rueidislimiter", keys: 10, without: 6, out: -1,
		story: slices.Concat(each(8, command{"SET", "rueidislimiter:{{i}}", "0", "PXAT", "1700000061000"}, command{"INCRBY", "rueidislimiter:{{i}}", "1"}),
			each(2, command{"SET", "rueidislimiter:{{i}}", "0", "PX", "61000"}, command{"SET", "rueidislimiter:{{i}}:ex", "1", "PX", "61000"},
				command{"INCRBY", "rueidislimiter:{{i}}", "1"})),
	},
	{ // milliseconds where Redis wants seconds, and no number at all
		group: "kong", keys: 20, without: 3, leaked: 3, absurd: 12, out: -1,
		story: slices.Concat(
			each(12, command{"INCRBY", "ratelimit:r:s:10.0.0.{i}:1700000040000:minute", "1"}, command{"EXPIREAT", "ratelimit:r:s:10.0.0.{i}:1700000040000:minute", "1700000040060"}),
			each(3, command{"INCRBY", "ratelimit:r:s:10.0.1.{i}:1700000040000:minute", "1"}, command{"!EXPIREAT", "ratelimit:r:s:10.0.1.{i}:1700000040000:minute", "nil"}),
			each(5, command{"SET", "ratelimit:r:s:10.0.2.{i}:1700000040000:hour", "1", "EX", "3600"})),
	},
	{ // a period of half a second, in a limiter whose names have no beginning
		group: "aspnet", keys: 5, without: 5, atRisk: 5, out: 3,
		story: slices.Concat(each(5, command{"INCRBYFLOAT", "2jmj7l5rSw0yVb/vlWAYkK{i}=", "1"}, command{"!EXPIRE", "2jmj7l5rSw0yVb/vlWAYkK{i}=", "0.5"}),
			each(3, command{"INCRBYFLOAT", "2jmj7l5rSw0yVb/vlWAYkK{i}=", "4"})),
	},
	{ // a refund after the window leaves -1; the next hit heals two of the callers
		group: "rate-limit-redis", keys: 6, without: 4, out: -1,
		story: slices.Concat(each(6, command{"DECR", "rl:10.0.0.{i}"}),
			each(2, command{"EVAL", "redis.call('INCR', KEYS[1]) if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], 60000) end", "1", "rl:10.0.0.{i}"})),
	},
	{ // a fraction as period: the script fails after it has written
		group: "sidekiq-throttled", keys: 9, without: 5, out: -1,
		story: slices.Concat(
			each(5, command{"!EVAL", "redis.call('LPUSH', KEYS[1], 1) redis.call('EXPIRE', KEYS[1], ARGV[1])", "1", "throttled:job{i}:threshold", "0.5"}),
			each(4, command{"EVAL", "redis.call('LPUSH', KEYS[1], 1) redis.call('EXPIRE', KEYS[1], ARGV[1])", "1", "throttled:well{i}:threshold", "60"})),
	},
	{ // a counter without TTL is counted on for ever: only the first hit sets one
		group: "ulule-limiter", keys: 10, without: 4, atRisk: 4, out: -1,
		story: slices.Concat(each(4, command{"SET", "limiter:10.0.0.{i}", "5"}),
			each(10, command{"EVAL", "if redis.call('INCRBY', KEYS[1], 1) == 1 then redis.call('PEXPIRE', KEYS[1], 60000) end", "1", "limiter:10.0.0.{i}"})),
	},
	{ // a time far ahead without TTL: a refusal reads it and writes nothing
		group: "redis-rate", keys: 3, without: 2, atRisk: 2, out: -1,
		story: slices.Concat(each(2, command{"SET", "rate:project:{i}", "999999999.5"}, command{"GET", "rate:project:{i}"}),
			[]command{{"SET", "rate:project:9", "300000000.5", "EX", "60"}}),
	},
}

func TestBehaviours(t *testing.T) {
	r := startTestRedis(t)
	for db, b := range behaviours {
		if keys := r.play(db, b.story); int(keys) != b.keys {
			t.Errorf("%s: the story makes %d keys, not %d", b.group, keys, b.keys)
		}
	}
	aspnet := classify.Rule{Name: "aspnet", Match: classify.Globs{"*="}, Window: 1e9, Limit: 5}
	text := gather(t, New(r.watch([]classify.Rule{aspnet}, classify.Presets())))
	for db, b := range behaviours {
		for name, want := range map[string]int{
			"keys": b.keys, "keys_without_ttl": b.without, "zombie_keys": b.without, "zombie_keys_seen": b.without,
			"leaked_keys": b.leaked, "lockout_risk_keys": b.atRisk, "excessive_ttl_keys": b.absurd, "locked_out_keys": b.out,
		} {
			series := fmt.Sprintf(`keyhealth_group_%s{db="%d",group="%s",target="test"} `, name, db, b.group)
			got := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + `.*$`).FindString(text)
			switch {
			case want < 0 && got != "":
				t.Errorf("got %s, want none", got)
			case want >= 0 && got != series+fmt.Sprint(want):
				t.Errorf("got %q, want %s%d", got, series, want)
			}
		}
	}
}

// What each permission is for: what must not be there without it, and what the
// figures must be that are.

package exportertest

import (
	"slices"
	"strings"
	"testing"
)

// fillACL makes every kind of key that some permission is needed for.
const fillACL = `
for i = 1, 30 do redis.call('SET', 'limit:' .. i, 5 + i) end
for i = 1, 70 do redis.call('SET', 'limit:fine:' .. i, 1, 'EX', 600) end
for i = 1, 5 do redis.call('RPUSH', 'queue:list', i); redis.call('ZADD', 'queue:zset', i, i) end
for i = 1, 1000 do
  redis.call('HSET', 'big:hash', i, i); redis.call('SADD', 'big:set', 'x' .. i); redis.call('XADD', 'big:stream', '*', 'a', i)
  redis.call('RPUSH', 'big:list', i); redis.call('ZADD', 'big:zset', i, 'x' .. i)
end
redis.call('SET', 'limit:1500000000', 9)
redis.call('SELECT', 3)
for i = 1, 20 do redis.call('SET', 'limit:' .. i, 9) end`

const groupsACL = `groups:
  - {name: limit, match: "limit:*", window: 60s, limit: 5}
  - {name: queue, match: "queue:*", window: 60s, limit: 5}
  - {name: big, match: "big:*", ttl: unknown}
targets:
`

// truthACL is what every series must be that is there at all.
var truthACL = map[string]float64{
	"keyhealth_keys db=0":                                    108,
	"keyhealth_keys_without_ttl db=0":                        38,
	"keyhealth_keys db=3":                                    20,
	"keyhealth_group_keys group=limit db=0":                  101,
	"keyhealth_group_zombie_keys group=limit db=0":           31,
	"keyhealth_group_zombie_keys group=limit db=3":           20,
	"keyhealth_group_locked_out_keys group=limit db=0":       31,
	"keyhealth_group_locked_out_keys group=limit db=3":       20,
	"keyhealth_group_locked_out_keys group=queue db=0":       2,
	"keyhealth_group_leaked_keys group=limit db=0":           1,
	"keyhealth_group_keys_without_ttl group=big db=0":        5,
	"keyhealth_group_excessive_ttl_keys group=limit db=0":    70,
	"keyhealth_group_keys_by_ttl band=none group=limit db=0": 31,
	"keyhealth_group_big_keys group=big db=0":                5,
}

// loss is what becomes of a target whose user loses a permission.
type loss struct {
	permission string
	capability string   // 0 then; empty: none
	absent     []string // series that must not be there then
	fails      bool     // its sweeps fail
	lower      []string // series that are a lower bound then
}

func losses(version string) []loss {
	const zombie, lockedOut, leaked, memory, big = "keyhealth_group_zombie_keys", "keyhealth_group_locked_out_keys", "keyhealth_group_leaked_keys", "keyhealth_group_memory_bytes", "keyhealth_group_big_keys"
	byLength := func(permission string) loss {
		return loss{permission, "length", nil, false, []string{big, lockedOut}}
	}
	all := []loss{
		{"+ping", "ping", []string{"keyhealth_node_ping_seconds"}, false, nil},
		{"+info", "info", nil, true, nil},
		{"+scan", "scan", nil, true, nil},
		{"+pttl", "pttl", nil, true, nil},
		{"~*", "pttl", nil, true, nil},
		{"+select", "select", []string{zombie + " db=3", "keyhealth_group_keys db=3"}, false, nil},
		{"+time", "time", []string{leaked}, false, nil},
		{"+memory|usage", "memory_usage", []string{memory, big, lockedOut + " group=limit"}, false, nil},
		{"+type", "type", []string{big, lockedOut + " group=limit", lockedOut + " group=queue db=0"}, false, nil},
		byLength("+hlen"), byLength("+llen"), byLength("+scard"), byLength("+zcard"), byLength("+xlen"),
		{"+get", "get", []string{lockedOut + " group=limit"}, false, nil},
		{"+client|setname", "", nil, false, nil},
	}
	if version >= "7.2" {
		all = append(all, loss{"+client|no-touch", "no_touch", nil, false, nil})
	}
	return all
}

// user is the user and the target of a loss.
func (l loss) user() string {
	if l.permission == "~*" {
		return "keys"
	}
	return strings.NewReplacer("+", "", "|", "-").Replace(l.permission)
}

// take is the rule that takes the permission away.
func (l loss) take(version string) string {
	switch {
	case l.permission == "~*":
		return "resetkeys"
	case version < "7": // knows no subcommands here
		command, _, _ := strings.Cut(l.permission[1:], "|")
		return "-" + command
	}
	return "-" + l.permission[1:]
}

// check wants what the loss says of a scrape after it.
func (l loss) check(t *testing.T, m Metrics) {
	t.Helper()
	target := "target=" + l.user()
	for _, series := range l.absent {
		words := append(strings.Fields(series), target)
		if m.Has(words[0], words[1:]...) {
			t.Errorf("without %s there is %s", l.permission, series)
		}
	}
	for series, want := range truthACL {
		words := strings.Fields(series)
		if slices.Contains(l.lower, words[0]) {
			continue
		}
		for _, got := range m.Values(words[0], append(words[1:], target)...) {
			if got != want {
				t.Errorf("without %s %s is %v, want %v", l.permission, series, got, want)
			}
		}
		if !l.fails && l.capability == "" && !m.Has(words[0], append(words[1:], target)...) {
			t.Errorf("without %s there is no %s", l.permission, series)
		}
	}
}

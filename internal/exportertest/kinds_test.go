// Every kind of unhealthy key on a real Redis: who is locked out, what is big,
// and which names were made for one request only.

package exportertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

const kindsFile = `
groups:
  - {name: login, match: "login:*", window: 60s, limit: 5}
  - {name: quota, match: "quota:*", window: 1d, limit: 100, counts: down}
  - {name: stuck, match: "stuck:*", window: 60s}
  - {name: jobs, match: "job:*", ttl: unknown, unique_names: true}
`

// fillKinds makes what kindsFile describes; the comments say what it must show.
const fillKinds = `
for i = 1, 30 do redis.call('SET', 'login:stuck:' .. i, 5 + i) end        -- locked out
for i = 1, 20 do redis.call('SET', 'login:low:' .. i, 4) end              -- zombies that lock nobody out yet
for i = 1, 50 do redis.call('SET', 'login:fine:' .. i, 9, 'EX', 60) end   -- at the limit, but it ends
for i = 1, 5 do redis.call('RPUSH', 'login:list', i) end                  -- locked out by its length
for i = 1, 4 do redis.call('ZADD', 'login:zset', i, i) end                -- not yet
redis.call('HSET', 'login:hash', 'count', 99)                             -- not judged
redis.call('SET', 'login:text', string.rep('x', 100000))                  -- not read
for i = 1, 7 do redis.call('SET', 'quota:' .. i, 2 - i) end               -- 6 at or below 0
for i = 1, 9 do redis.call('SET', 'stuck:' .. i, 99) end                  -- no limit: not read
for i = 1, 20000 do redis.call('HSET', 'cart:big', i, i) end              -- big by its elements
redis.call('SET', 'cart:text', string.rep('x', 2000000))                  -- big by its memory
for i = 1, 40 do redis.call('SET', 'cart:' .. i, 1) end
for i = 10, 49 do redis.call('SET', 'job:17645000' .. i, 1, 'EX', 900) end
for i = 10, 39 do redis.call('SET', 'job:9b2d5b2c-8f6f-4a0d-9a7d-0f1c2e3b4a' .. i, 1, 'EX', 900) end
for i = 10, 29 do redis.call('SET', 'job:01ARZ3NDEKTSV4RRFFQ69G5F' .. i, 1, 'EX', 900) end
for i = 10, 19 do redis.call('SET', 'job:9b2d5b2c8f6f4a0d9a7d0f1c2e3b4a' .. i, 1, 'EX', 900) end
for i = 1, 5 do redis.call('SET', 'job:nightly:' .. i, 1) end`

func TestEveryKind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keyhealth.yml")
	if err := os.WriteFile(file, []byte(kindsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	redistest.Run(t, "kinds", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		redistest.Fill(t, server, fillKinds)
		admin := server.Client(t)
		if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		e := Start(t, Settings{"REDIS_URL": server.URL(), "CONFIG_FILE": file})
		m := e.Sweeps(t, 1)
		for series, want := range map[string]float64{
			"keyhealth_group_zombie_keys group=login":                    54,
			"keyhealth_group_locked_out_keys group=login":                31,
			"keyhealth_group_lockout_risk_keys group=login":              54,
			"keyhealth_group_locked_out_keys group=quota":                6,
			"keyhealth_group_zombie_keys group=stuck":                    9,
			"keyhealth_group_lockout_risk_keys group=stuck":              0,
			"keyhealth_group_big_keys group=cart:*":                      2,
			"keyhealth_group_big_keys group=login":                       0,
			"keyhealth_group_unique_name_keys group=jobs kind=timestamp": 40,
			"keyhealth_group_unique_name_keys group=jobs kind=uuid":      30,
			"keyhealth_group_unique_name_keys group=jobs kind=ulid":      20,
			"keyhealth_group_unique_name_keys group=jobs kind=hex":       10,
			"keyhealth_group_info group=jobs unique_names=true":          1,
		} {
			words := strings.Fields(series)
			if got := m.Value(t, words[0], words[1:]...); got != want {
				t.Errorf("%s is %v, want %v", series, got, want)
			}
		}
		if largest := m.Value(t, "keyhealth_group_largest_key_bytes", "group=cart:*"); largest < 2_000_000 || largest > 3_000_000 {
			t.Errorf("the largest cart has %v bytes", largest)
		}
		if m.Has("keyhealth_group_locked_out_keys", "group=stuck") {
			t.Error("states of a group without a limit were judged")
		}
		checkCommands(t, admin.Info(t.Context(), "commandstats").Val(), "get", "client|no-touch")
		if errors := admin.Info(t.Context(), "errorstats").Val(); strings.Contains(errors, "errorstat_") {
			t.Errorf("we caused errors:\n%s", errors)
		}
		checkNotRead(t, m)
	})
}

// checkNotRead compares what was sent with what may be read: the values of 57
// short strings, zombies of groups with a limit.
func checkNotRead(t *testing.T, m Metrics) {
	t.Helper()
	if read := m.Value(t, "keyhealth_redis_commands_total", "command=get"); read != 57 {
		t.Errorf("%v values were read, want 57", read)
	}
}

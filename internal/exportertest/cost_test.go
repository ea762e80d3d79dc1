// What a sweep of a large keyspace costs the server, that it ends in time
// through a slow network, and that it sends nothing but what docs/permissions.md
// lists.

package exportertest

import (
	"slices"
	"strings"
	"testing"

	"keyhealth/collector/source"
	"keyhealth/internal/redistest"
)

// fillLarge makes the keys ARGV[1] to ARGV[2]: of a hundred, 66 belong to a
// limiter (7 % without TTL) and 34 are persistent flags.
const fillLarge = `
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  if i % 100 >= 66 then redis.call('SET', 'flags:' .. i, '1')
  elseif math.floor(i / 100) % 100 < 7 then redis.call('SET', 'rate_limit:' .. i, 60)
  else redis.call('SET', 'rate_limit:' .. i, 3, 'EX', 86400) end
end`

const largeKeys = 2_000_000

// allowed are the commands that serve may send to a single server, as
// commandstats names them; auth, readonly and hello come with the connection.
var allowed = []string{
	"hello", "auth", "client|setname", "select", "ping", "info", "time", "scan", "pttl", "memory|usage",
	"type", "hlen", "llen", "scard", "zcard", "xlen",
}

func TestLargeKeyspace(t *testing.T) {
	redistest.Run(t, "large", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		for from := 1; from <= largeKeys; from += 250_000 {
			redistest.Fill(t, server, fillLarge, from, from+249_999)
		}
		admin := server.Client(t)
		read := func(section string) source.Info {
			return source.ParseInfo(admin.Info(t.Context(), section).Val())
		}
		cpu := func() float64 {
			info := read("cpu")
			user, _ := info.Number("used_cpu_user")
			system, _ := info.Number("used_cpu_sys")
			return user + system
		}
		if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		before := cpu()
		settings := Settings{"REDIS_URL": server.URL(), "GROUPS": "ocr=rate_limit:*@60s,flags:*@persistent"}
		exporter := Start(t, settings)
		metrics := exporter.Sweeps(t, 1)
		spent := cpu() - before
		t.Logf("%v keys examined in %.1f s, %.2f s of the server's CPU",
			metrics.Value(t, "keyhealth_sweep_keys_examined"), metrics.Value(t, "keyhealth_sweep_duration_seconds"), spent)
		if spent >= 1 {
			t.Errorf("a sweep took %.2f s of the server's CPU", spent)
		}
		checkLarge(t, metrics)
		checkCommands(t, admin.Info(t.Context(), "commandstats").Val())
		if errors := admin.Info(t.Context(), "errorstats").Val(); strings.Contains(errors, "errorstat_") {
			t.Errorf("we caused errors:\n%s", errors)
		}
		exporter.Terminate(t)

		proxy := redistest.StartProxy(t, server.Addr())
		proxy.SetDelay(20 * 1e6)
		settings["REDIS_URL"] = proxy.URL()
		metrics = Start(t, settings).Sweeps(t, 1)
		duration := metrics.Value(t, "keyhealth_sweep_duration_seconds")
		t.Logf("through 20 ms: %v keys examined in %.1f s", metrics.Value(t, "keyhealth_sweep_keys_examined"), duration)
		if duration >= 60 {
			t.Errorf("through 20 ms of latency a sweep took %.0f s", duration)
		}
		checkLarge(t, metrics)
	})
}

// checkLarge looks for the true figures within the published intervals, and for
// sizes within 3 %.
func checkLarge(t *testing.T, m Metrics) {
	t.Helper()
	const share = 0.07
	lower := m.Value(t, "keyhealth_group_zombie_ratio_lower_bound", "group=ocr")
	upper := m.Value(t, "keyhealth_group_zombie_ratio_upper_bound", "group=ocr")
	ratio := m.Value(t, "keyhealth_group_zombie_ratio", "group=ocr")
	// One sample in twenty misses its interval by rights: a share is only wrong
	// when it is off by another half of the interval.
	if slack := (upper - lower) / 2; lower > share+slack || upper < share-slack || lower > ratio || ratio > upper {
		t.Errorf("zombie ratio %.4f, interval %.4f to %.4f; the truth is %.4f", ratio, lower, upper, share)
	}
	for group, truth := range map[string]float64{"ocr": 0.66 * largeKeys, "flags:*": 0.34 * largeKeys} {
		if got := m.Value(t, "keyhealth_group_keys", "group="+group); got < truth*0.97 || got > truth*1.03 {
			t.Errorf("%s has %.0f keys, want about %.0f", group, got, truth)
		}
	}
	if m.Value(t, "keyhealth_keys") != largeKeys {
		t.Errorf("keyhealth_keys = %v", m.Value(t, "keyhealth_keys"))
	}
	if garbage := m.Value(t, "keyhealth_db_expired_unreclaimed_ratio"); garbage < 0 || garbage > 0.02 {
		t.Errorf("on a still keyspace a share of %.3f counts as expired", garbage)
	}
}

// checkCommands finds what was sent that should not be; the test itself sends
// INFO, CONFIG RESETSTAT and what go-redis sends at a start. more is allowed by
// the settings of the test.
func checkCommands(t *testing.T, commandstats string, more ...string) {
	t.Helper()
	permitted := map[string]bool{"config|resetstat": true}
	for _, command := range slices.Concat(allowed, more) {
		permitted[command] = true
	}
	for line := range strings.Lines(commandstats) {
		if command, ok := strings.CutPrefix(line, "cmdstat_"); ok {
			command, _, _ = strings.Cut(command, ":")
			if !permitted[command] {
				t.Errorf("%s was sent", command)
			}
		}
	}
}

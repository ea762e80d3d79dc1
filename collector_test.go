// The whole exporter through its front door: a keyspace in, the text of
// /metrics out; the collector wired up by its public API on miniredis, and the
// built binary as a process on real servers. What a part does alone is tested
// beside it.

package keyhealth_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"keyhealth/collector"
	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
	"keyhealth/internal/exportertest"
	"keyhealth/internal/redistest"
)

// rulesFile describes the keyspace that fillLimiter makes.
const rulesFile = `
groups:
  - name: ocr
    match: "rate_limit:*"
    window: 60s
    max_ttl_factor: 100
    limit: 50
  - name: sessions
    match: "session:*"
    max_ttl: 2h
  - name: flags
    match: "flags:*"
    ttl: persistent
`

// fillLimiter makes ARGV[2] - ARGV[1] + 1 keys: of a hundred, 66 belong to a
// limiter (of a thousand of those 70 without TTL and 5 with one of 55 years),
// 28 to sessions named after a time, and 6 are persistent flags.
const fillLimiter = `
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local part = i % 100
  if part < 66 then
    local key, fate = 'rate_limit:user' .. i, math.floor(i / 100) % 200
    if fate < 14 then redis.call('SET', key, 60)
    elseif fate == 14 then redis.call('SET', key, 3, 'EX', 1734480000)
    else redis.call('SET', key, 3, 'EX', 5900) end
  elseif part < 94 then redis.call('SET', 'session:' .. i .. ':1764500000', 'x', 'EX', 7000)
  else redis.call('SET', 'flags:' .. i, '1') end
end`

func writeRules(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyhealth.yaml")
	if err := os.WriteFile(path, []byte(rulesFile), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMiniredis goes from keys to exposition text without a process.
func TestMiniredis(t *testing.T) {
	server := miniredis.RunT(t)
	for i := range 20 {
		_ = server.Set(fmt.Sprintf("rate_limit:%d", i), "3")
		if i >= 5 {
			server.SetTTL(fmt.Sprintf("rate_limit:%d", i), 30*time.Second)
		}
	}
	server.SetTTL("rate_limit:19", 55*365*24*time.Hour)
	_ = server.Set("unknown", "x")
	rules, err := classify.ParseGroups("ocr=rate_limit:*@60s,none:*@persistent")
	if err != nil {
		t.Fatal(err)
	}
	watcher := collector.NewWatcher(spec.Target{
		Name:     "shop",
		Endpoint: spec.Endpoint{Network: "tcp", Address: server.Addr(), Timeout: 3 * time.Second},
		Rules:    rules,
		Sweep:    spec.DefaultSweep(),
	}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watcher.Run(ctx) }()
	for !watcher.Ready() {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector.New(watcher))
	want := `
# HELP keyhealth_group_excessive_ttl_keys Keys with a TTL above the group's max TTL (366 days where none is stated), as of the last sweep.
# TYPE keyhealth_group_excessive_ttl_keys gauge
keyhealth_group_excessive_ttl_keys{db="0",group="(other)",target="shop"} 0
keyhealth_group_excessive_ttl_keys{db="0",group="ocr",target="shop"} 1
# HELP keyhealth_group_keys Keys of the group, as of the last sweep; exact after a walk, else an estimate.
# TYPE keyhealth_group_keys gauge
keyhealth_group_keys{db="0",group="(other)",target="shop"} 1
keyhealth_group_keys{db="0",group="none:*",target="shop"} 0
keyhealth_group_keys{db="0",group="ocr",target="shop"} 20
# HELP keyhealth_group_zombie_keys Keys of the group seen without TTL at least twice, as of the last sweep; scaled where not every key was looked at.
# TYPE keyhealth_group_zombie_keys gauge
keyhealth_group_zombie_keys{db="0",group="ocr",target="shop"} 5
# HELP keyhealth_group_zombie_ratio Zombies as a share of the group's keys, as of the last sweep.
# TYPE keyhealth_group_zombie_ratio gauge
keyhealth_group_zombie_ratio{db="0",group="ocr",target="shop"} 0.25
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "keyhealth_group_excessive_ttl_keys",
		"keyhealth_group_keys", "keyhealth_group_zombie_keys", "keyhealth_group_zombie_ratio"); err != nil {
		t.Error(err)
	}
}

// keyspace is what fillLimiter made of n keys, n a multiple of 20,000, and
// zombies that were added to the limiter.
type keyspace struct{ n, added float64 }

func (k keyspace) check(t *testing.T, m exportertest.Metrics) {
	t.Helper()
	limiter, zombies := 0.66*k.n+k.added, 0.0462*k.n+k.added
	for _, want := range []struct {
		name, group string
		value       float64
	}{
		{"keyhealth_group_keys", "ocr", limiter},
		{"keyhealth_group_keys_without_ttl", "ocr", zombies},
		{"keyhealth_group_zombie_keys", "ocr", zombies},
		{"keyhealth_group_zombie_ratio", "ocr", zombies / limiter},
		{"keyhealth_group_lockout_risk_keys", "ocr", zombies},
		{"keyhealth_group_excessive_ttl_keys", "ocr", 0.0033 * k.n},
		{"keyhealth_group_leaked_keys", "ocr", 0},
		{"keyhealth_group_keys", "sessions", 0.28 * k.n},
		{"keyhealth_group_zombie_keys", "sessions", 0},
		{"keyhealth_group_excessive_ttl_keys", "sessions", 0},
		{"keyhealth_group_keys", "flags", 0.06 * k.n},
		{"keyhealth_group_keys_without_ttl", "flags", 0.06 * k.n},
	} {
		got := m.Value(t, want.name, "db=0", "target=shop", "group="+want.group)
		if diff := got - want.value; diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%s of %s = %v, want %v", want.name, want.group, got, want.value)
		}
	}
}

// TestExactCounts is a small keyspace at the default settings, found by the
// first sweep, and by the next whole one after it has changed; and a larger one
// of which every key is asked for. When sweeps begin is tested on a fake clock.
func TestExactCounts(t *testing.T) {
	t.Parallel()
	redistest.Run(t, "exact", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		redistest.Fill(t, server, fillLimiter, 1, 100_000)
		settings := exportertest.Settings{"REDIS_URL": server.URL(), "TARGET_NAME": "shop", "CONFIG_FILE": writeRules(t)}
		exportertest.Binary(t)
		start := time.Now()
		exporter := exportertest.Start(t, settings)
		keyspace{n: 100_000}.check(t, exporter.Sweeps(t, 1))
		t.Logf("exact %.1f s after the start", time.Since(start).Seconds())
		redistest.Fill(t, server, `for i = 1, 10000 do redis.call('SET', 'rate_limit:new' .. i, 9) end`)
		added := time.Now()
		metrics := exporter.Wait(t, "10,000 more zombies", func(m exportertest.Metrics) bool {
			return m.Value(t, "keyhealth_zombie_keys", "db=0") == 14_620
		})
		t.Logf("changed %.1f s after the change", time.Since(added).Seconds())
		if sweeps := metrics.Value(t, "keyhealth_sweeps_total"); sweeps > 3 { // one was perhaps on its way
			t.Errorf("the change took until sweep %v to show", sweeps)
		}
		keyspace{n: 100_000, added: 10_000}.check(t, metrics)

		redistest.Fill(t, server, fillLimiter, 100_001, 200_000)
		settings["SWEEP_MAX_KEYS"] = "0"
		keyspace{n: 200_000, added: 10_000}.check(t, exportertest.Start(t, settings).Sweeps(t, 1))
	})
}

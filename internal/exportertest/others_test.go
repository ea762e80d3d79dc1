// Servers that are no Redis of ours: old ones, managed ones, and proxies. What
// they lack costs what needs it, and nothing else.

package exportertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/server"

	"keyhealth/internal/redistest"
)

// other is a server, and what must be seen of it. Its counts must be right
// wherever they are shown.
type other struct {
	name    string
	answers map[string]redistest.Answer
	fails   string   // the reason why its sweeps fail; empty: they do not
	refused string   // a capability that is 0
	absent  []string // series
	more    string   // settings of its target
}

func info(text string) map[string]redistest.Answer {
	return map[string]redistest.Answer{"INFO": func(c *server.Peer, _ []string) { c.WriteBulk(text) }}
}

func without(command, answer string) map[string]redistest.Answer {
	return map[string]redistest.Answer{command: redistest.Refuse(answer)}
}

func others() []other {
	const keyspace = "# Keyspace\r\ndb0:keys=100,expires=90\r\n"
	totals := []string{"keyhealth_keys", "keyhealth_keys_without_ttl", "keyhealth_db_keys"} // INFO's
	fewSections := func(c *server.Peer, args []string) {
		if len(args) > 0 {
			c.WriteError("ERR wrong number of arguments for 'info' command")
			return
		}
		c.WriteBulk(redistest.ScriptedInfo)
	}
	return []other{
		{name: "resp2", absent: []string{"keyhealth_memory_used_bytes", "keyhealth_script_duration_seconds", "keyhealth_eviction_policy_info"}},
		{name: "no-version", answers: info(keyspace)},
		{name: "no-keyspace", answers: info("# Server\r\nredis_version:5.0.0\r\n"), absent: totals},
		{name: "empty-info", answers: info(""), absent: totals},
		{name: "no-number", answers: info("# Keyspace\r\ndb0:keys=NaN,expires=1\r\n"), absent: totals},
		{name: "info-of-one-kind", answers: map[string]redistest.Answer{"INFO": fewSections}},
		{name: "strange-info", answers: info("# Memory\r\nused_memory:lots\r\nmaxmemory:-1\r\nno colon\r\n" + keyspace), absent: []string{"keyhealth_memory_used_bytes", "keyhealth_memory_max_bytes"}},
		{name: "no-client", answers: without("CLIENT", "ERR unknown command 'client'")},
		{name: "no-select", answers: map[string]redistest.Answer{
			"SELECT": redistest.Refuse("ERR unsupported command 'select'"),
			"INFO": func(c *server.Peer, _ []string) {
				c.WriteBulk(strings.TrimSuffix(keyspace, "\r\n") + "\r\ndb3:keys=7,expires=0\r\n")
			},
		}, refused: "select"},
		{name: "no-time", answers: without("TIME", "ERR unknown command 'TIME'"), refused: "time", absent: []string{"keyhealth_group_leaked_keys"}},
		{name: "no-memory", answers: without("MEMORY", "ERR unknown command 'MEMORY'"), refused: "memory_usage", absent: []string{"keyhealth_group_memory_bytes"}},
		{name: "unknown-types", answers: map[string]redistest.Answer{"TYPE": func(c *server.Peer, _ []string) { c.WriteInline("ReJSON-RL") }}},
		{name: "given-cursors-only", refused: "random_cursor", more: "sweep: {max_keys: 20}"},
		{name: "no-scan", answers: without("SCAN", "ERR unsupported command 'scan'"), fails: "refused", refused: "scan"},
		{name: "no-info", answers: without("INFO", "ERR unsupported command 'info'"), fails: "refused", refused: "info"},
		{name: "no-pttl", answers: without("PTTL", "ERR unsupported command 'pttl'"), fails: "refused", refused: "pttl"},
	}
}

func TestOtherServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keyhealth.yml")
	text := "groups: [{name: limit, match: 'limit:*', window: 60s}]\ntargets:\n"
	for _, o := range others() {
		text += fmt.Sprintf("  - {name: %s, url: %q, %s}\n", o.name, redistest.StartScripted(t, o.answers).URL(), o.more)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := Start(t, Settings{"CONFIG_FILE": file, "SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1", "PRESETS": "none"})
	m := e.Wait(t, "two sweeps of each", func(m Metrics) bool {
		return !slices.ContainsFunc(others(), func(o other) bool {
			return m.Value(t, "keyhealth_sweeps_total", "target="+o.name) < 2
		})
	})
	for _, o := range others() {
		t.Run(o.name, func(t *testing.T) { o.check(t, m) })
	}
}

func (o other) check(t *testing.T, m Metrics) {
	target := "target=" + o.name
	if success := m.Value(t, "keyhealth_sweep_success", target); success == 1 != (o.fails == "") {
		t.Errorf("keyhealth_sweep_success is %v", success)
	}
	if o.fails != "" && m.Value(t, "keyhealth_sweep_failures_total", target, "reason="+o.fails) == 0 {
		t.Errorf("no failure has the reason %s", o.fails)
	}
	if refused := m.Values("keyhealth_capability", target, "capability="+o.refused); o.refused != "" && !slices.Equal(refused, []float64{0}) {
		t.Errorf("capability %s is %v", o.refused, refused)
	}
	for _, name := range o.absent {
		if m.Has(name, target) {
			t.Errorf("there is %s", name)
		}
	}
	for name, want := range map[string]float64{"keyhealth_group_keys": 100, "keyhealth_group_zombie_keys": 10, "keyhealth_keys": 100, "keyhealth_keys_without_ttl": 10} {
		got := m.Values(name, target, "db=0")
		if slices.ContainsFunc(got, func(n float64) bool { return n != want }) || o.fails == "" && len(got) == 0 && !slices.Contains(o.absent, name) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

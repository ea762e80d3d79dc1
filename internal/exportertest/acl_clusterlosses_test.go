// What the permissions are for that only a Cluster or a Sentinel set needs: each
// is lost by a user of its own.

package exportertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

// fleetLoss is what becomes of a set's target whose user loses a permission.
type fleetLoss struct {
	permission string
	capability string
	required   bool
	fails      bool
}

func TestEachPermissionOfACluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 3)
	cluster.AddReplicas(t)
	client := cluster.Client(t)
	for i := range 300 {
		if err := client.Set(t.Context(), fmt.Sprint("plain:", i), 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	lost := []fleetLoss{
		{"+cluster|nodes", "cluster_nodes", true, true},
		{"+cluster|countkeysinslot", "slot_counts", false, false},
		{"+readonly", "readonly", false, false},
	}
	user := func(l fleetLoss) string { return loss{permission: l.permission}.user() }
	var users []loss
	for _, l := range lost {
		users = append(users, loss{permission: l.permission})
	}
	settings := targetEach(t, "redis://"+cluster.Nodes[0].Addr()+","+cluster.Nodes[1].Addr(), users)
	settings["REDIS_CLUSTER"] = "true"
	servers := slices.Concat(cluster.Nodes, cluster.Replicas)
	version := servers[0].Version(t)
	rule := printedRule(t, settings, version)
	for _, server := range servers {
		admin := server.Client(t)
		for _, l := range lost {
			setUser(t, admin, append([]string{user(l)}, rule...)...)
			setUser(t, admin, user(l), loss{permission: l.permission}.take(version))
		}
	}
	e := Start(t, settings)
	for _, l := range lost {
		e.wantFleetLoss(t, "target="+user(l), l, 300)
	}
	for _, server := range servers {
		for _, l := range lost {
			setUser(t, server.Client(t), append([]string{user(l)}, rule...)...)
		}
	}
	e.Wait(t, "every capability again", func(m Metrics) bool {
		return !slices.ContainsFunc(lost, func(l fleetLoss) bool {
			return slices.Contains(m.Values("keyhealth_capability", "target="+user(l)), 0) || m.Value(t, "keyhealth_sweep_success", "target="+user(l)) != 1
		})
	})
}

func TestThePermissionOfASentinel(t *testing.T) {
	primary := redistest.Start(t)
	sentinel := redistest.StartSentinel(t, primary, 0)
	settings := Settings{
		"REDIS_URL":         "redis+sentinel://" + sentinel.Addr() + "/" + redistest.SentinelMaster,
		"SENTINEL_USERNAME": "keyhealth", "SWEEP_INTERVAL": "1s", "PRESETS": "none",
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("p"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings["SENTINEL_PASSWORD_FILE"] = password
	rule := printedRules(t, settings, primary.Version(t))[1]
	for _, permission := range []string{"get-master-addr-by-name", "replicas"} {
		t.Run(permission, func(t *testing.T) {
			admin := sentinel.Client(t)
			setUser(t, admin, append([]string{"keyhealth"}, rule...)...)
			e := Start(t, settings)
			e.Sweeps(t, 1)
			setUser(t, admin, "keyhealth", "-sentinel|"+permission)
			e.wantFleetLoss(t, "target=redis", fleetLoss{"+sentinel|" + permission, "sentinel", true, true}, 0)
		})
	}
}

// wantFleetLoss waits until the loss shows and wants one log line for it, and
// right numbers or none.
func (e *Exporter) wantFleetLoss(t *testing.T, target string, l fleetLoss, keys float64) {
	t.Helper()
	m := e.Wait(t, "the loss of "+l.permission+" to show", func(m Metrics) bool {
		return slices.Contains(m.Values("keyhealth_capability", target, "capability="+l.capability, fmt.Sprint("required=", l.required)), 0) &&
			m.Value(t, "keyhealth_sweeps_total", target) >= 3
	})
	if success := m.Value(t, "keyhealth_sweep_success", target); success != 0 != !l.fails {
		t.Errorf("without %s keyhealth_sweep_success is %v", l.permission, success)
	}
	if got := m.Values("keyhealth_keys", target); !l.fails && !slices.Equal(got, []float64{keys}) || slices.ContainsFunc(got, func(n float64) bool { return n != keys }) {
		t.Errorf("without %s there are %v keys, want %v", l.permission, got, keys)
	}
	lines := 0
	for line := range strings.Lines(e.Output()) {
		if strings.Contains(line, "Redis refuses a command") && strings.Contains(line, target+" ") {
			lines++
			if !strings.Contains(line, "capability="+l.capability) || !strings.Contains(line, l.permission) {
				t.Errorf("without %s the log says %s", l.permission, line)
			}
		}
	}
	if lines != 1 {
		t.Errorf("without %s there are %d lines, want 1", l.permission, lines)
	}
}

package exportertest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

// TestTheUserOfACluster: the rule that is printed for a Cluster is enough on each
// of its nodes, and they count no error.
func TestTheUserOfACluster(t *testing.T) {
	redistest.Run(t, "cluster user", func(t *testing.T, binary string) {
		cluster := redistest.StartClusterBinary(t, binary, 3)
		cluster.AddReplicas(t)
		settings := Settings{
			"REDIS_URL":      "redis://" + cluster.Nodes[0].Addr() + "," + cluster.Nodes[1].Addr(),
			"REDIS_CLUSTER":  "true",
			"GROUPS":         "limit=limit:*@60s",
			"SWEEP_INTERVAL": "1s",
		}
		rule := printedRule(t, settings, cluster.Nodes[0].Version(t))
		for _, permission := range []string{"+cluster|nodes", "+cluster|countkeysinslot", "+asking", "+readonly"} {
			if !slices.Contains(rule, permission) {
				t.Errorf("the rule has no %s", permission)
			}
		}
		if slices.Contains(rule, "+select") {
			t.Error("the rule has +select, and a Cluster has one database")
		}
		nodes := slices.Concat(cluster.Nodes, cluster.Replicas)
		settings["REDIS_USERNAME"], settings["REDIS_PASSWORD"] = "keyhealth", "p"
		wantUser(t, settings, rule, nodes)
	})
}

// TestTheUsersOfASentinelSet: the first rule is for the servers, the second for
// the Sentinels, which let nobody else in.
func TestTheUsersOfASentinelSet(t *testing.T) {
	primary := redistest.Start(t)
	replica := redistest.StartReplica(t, primary)
	sentinel := redistest.StartSentinel(t, primary, 1)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("p"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := Settings{
		"REDIS_URL":      "redis+sentinel://" + sentinel.Addr() + "/" + redistest.SentinelMaster,
		"SWEEP_INTERVAL": "1s",
	}
	rules := printedRules(t, settings, primary.Version(t))
	if len(rules) != 2 {
		t.Fatalf("%d rules: %q", len(rules), rules)
	}
	admin := sentinel.Client(t)
	setUser(t, admin, append([]string{"keyhealth"}, rules[1]...)...)
	setUser(t, admin, "default", "off")
	settings["REDIS_USERNAME"], settings["REDIS_PASSWORD_FILE"] = "keyhealth", password
	settings["SENTINEL_USERNAME"], settings["SENTINEL_PASSWORD_FILE"] = "keyhealth", password
	wantUser(t, settings, rules[0], []*redistest.Server{primary, replica})
}

// wantUser makes the user on all servers and wants a sweep with it that is
// permitted everything, and of which no server counts an error.
func wantUser(t *testing.T, settings Settings, rule []string, servers []*redistest.Server) {
	t.Helper()
	for _, server := range servers {
		admin := server.Client(t)
		setUser(t, admin, append([]string{"keyhealth"}, rule...)...)
		if err := admin.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	m := Start(t, settings).Wait(t, "a sweep that met all servers", func(m Metrics) bool {
		up := m.Values("keyhealth_node_up") // a Sentinel may not have met the replica yet
		return m.Is("keyhealth_sweep_success", "==", 1) && len(up) == len(servers) && !slices.Contains(up, 0)
	})
	if capabilities := m.Values("keyhealth_capability"); slices.Contains(capabilities, 0) || len(capabilities) == 0 {
		t.Errorf("capabilities: %v", capabilities)
	}
	for _, server := range servers {
		if errors := server.Client(t).Info(t.Context(), "errorstats").Val(); strings.Contains(errors, "errorstat_") {
			t.Errorf("we caused errors on %s:\n%s", server.Addr(), errors)
		}
	}
}

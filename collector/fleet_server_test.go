// A Cluster as a whole, on real servers: every key is counted once, whatever
// happens to its nodes.

package collector

import (
	"context"
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// clusterTarget is swept once a second, as fast as the servers can.
func clusterTarget(t *testing.T, seed *redistest.Server) spec.Target {
	target := targetOf(t, "limit=limit:*@1h")
	target.Endpoint = spec.Endpoint{Network: "tcp", Address: seed.Addr(), Timeout: 2 * time.Second}
	target.Sweep.Interval, target.Sweep.Duty, target.Sweep.StaleAfter = time.Second, 1, time.Minute
	target.MaxGroups = spec.DefaultMaxGroups
	return target
}

// running is a watcher that runs until the test ends.
func running(t *testing.T, target spec.Target) *Watcher {
	t.Helper()
	w := NewWatcher(target, silentLog())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return w
}

// eventually waits until a snapshot is as wanted.
func eventually(t *testing.T, w *Watcher, what string, wanted func(*Snapshot) bool) *Snapshot {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		s := w.Snapshot()
		if wanted(s) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("never %s: %+v, nodes %+v", what, s.Health, s.Nodes)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func sweptWell(after uint64) func(*Snapshot) bool {
	return func(s *Snapshot) bool { return s.Health.Swept && s.Health.Sweeps > after }
}

// exact says what is not counted exactly, of a Cluster that was filled with keys.
func exact(s *Snapshot, keys int) string {
	g := groupOf(s.Groups, 0, "limit")
	switch {
	case len(s.Databases) != 1 || s.Databases[0].Keys != int64(keys) || s.Databases[0].WithoutTTL != int64(keys)/10:
		return fmt.Sprintf("databases %+v", s.Databases)
	case g == nil || g.Keys != float64(keys) || g.Zombies == nil || g.Zombies.Keys != float64(keys)/10:
		return fmt.Sprintf("group %+v", g)
	}
	return ""
}

func TestCluster(t *testing.T) {
	redistest.Run(t, "cluster", func(t *testing.T, binary string) {
		keys := redistest.FleetKeys(t)
		c := redistest.StartClusterBinary(t, binary, 3)
		c.AddReplicas(t)
		c.Fill(t, keys, redistest.Limit)
		for _, replicas := range []bool{false, true} {
			target := clusterTarget(t, c.Nodes[1])
			target.Replicas = replicas
			w := running(t, target)
			s := eventually(t, w, "swept", sweptWell(0))
			if wrong := exact(s, keys); wrong != "" {
				t.Errorf("replicas %v: %s", replicas, wrong)
			}
			if len(s.Nodes) != 6 || s.Health.Coverage != 1 || s.Health.Examined != int64(keys) {
				t.Errorf("replicas %v: %d nodes, %+v", replicas, len(s.Nodes), s.Health)
			}
			for _, n := range s.Nodes {
				isReplica := n.Info != nil && n.Info.Role() == "replica"
				if !n.Up || n.Info == nil || (n.Sweep != nil) != (isReplica == replicas) {
					t.Errorf("replicas %v: %+v", replicas, n)
				}
			}
		}
	})
}

// TestClusterNotFollowed: one node of it is counted as a server by itself where that is asked for.
func TestClusterNotFollowed(t *testing.T) {
	const keys = 30_000
	c := redistest.StartCluster(t, 3)
	c.Fill(t, keys, redistest.Limit)
	target := clusterTarget(t, c.Nodes[0])
	target.Cluster = spec.ClusterNever
	s := eventually(t, running(t, target), "swept", sweptWell(0))
	if g := groupOf(s.Groups, 0, "limit"); g.Keys < 8000 || g.Keys > 12_000 || len(s.Nodes) != 1 {
		t.Errorf("as a single server %+v", g)
	}
}

// sweptOn says whether a node's keys were met.
func sweptOn(s *Snapshot, node string) bool {
	for _, n := range s.Nodes {
		if n.Name == node {
			return n.Sweep != nil && *n.Sweep
		}
	}
	return false
}

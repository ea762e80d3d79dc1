// A Cluster as a whole, on real servers: every key is counted once, whatever
// happens to its nodes.

package collector

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// fleetKeys are written through the Cluster's own client: a tenth of the
// limiter's have no TTL.
const fleetKeys = 30_000

func fillFleet(t *testing.T, c *redistest.Cluster) {
	t.Helper()
	client := c.Client(t)
	pipe := client.Pipeline()
	for i := range fleetKeys {
		name := fmt.Sprintf("limit:%d", i)
		if i%10 == 0 {
			pipe.Set(t.Context(), name, 1, 0)
		} else {
			pipe.Set(t.Context(), name, 1, time.Hour)
		}
		if pipe.Len() == 1000 {
			if _, err := pipe.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

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

// exact says what is not counted exactly.
func exact(s *Snapshot) string {
	g := groupOf(s.Groups, 0, "limit")
	switch {
	case len(s.Databases) != 1 || s.Databases[0].Keys != fleetKeys || s.Databases[0].WithoutTTL != fleetKeys/10:
		return fmt.Sprintf("databases %+v", s.Databases)
	case g == nil || g.Keys != fleetKeys || g.Zombies == nil || g.Zombies.Keys != fleetKeys/10:
		return fmt.Sprintf("group %+v", g)
	}
	return ""
}

func TestCluster(t *testing.T) {
	redistest.Run(t, "cluster", func(t *testing.T, binary string) {
		c := redistest.StartClusterBinary(t, binary, 3)
		c.AddReplicas(t)
		fillFleet(t, c)
		for _, replicas := range []bool{false, true} {
			target := clusterTarget(t, c.Nodes[1])
			target.Replicas = replicas
			w := running(t, target)
			s := eventually(t, w, "swept", sweptWell(0))
			if wrong := exact(s); wrong != "" {
				t.Errorf("replicas %v: %s", replicas, wrong)
			}
			if len(s.Nodes) != 6 || s.Health.Coverage != 1 || s.Health.Examined != fleetKeys {
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
	c := redistest.StartCluster(t, 3)
	fillFleet(t, c)
	target := clusterTarget(t, c.Nodes[0])
	target.Cluster = spec.ClusterNever
	s := eventually(t, running(t, target), "swept", sweptWell(0))
	if g := groupOf(s.Groups, 0, "limit"); g.Keys < 8000 || g.Keys > 12_000 || len(s.Nodes) != 1 {
		t.Errorf("as a single server %+v", g)
	}
}

// TestFailover: while a primary is killed and its replica takes over no number is
// doubled or halved, and at the end they are right again.
func TestFailover(t *testing.T) {
	c := redistest.StartCluster(t, 3)
	c.AddReplicas(t)
	fillFleet(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	defer load.Wait()
	defer cancel()
	load.Go(func() { overwrite(ctx, c.Client(t)) })
	for _, replicas := range []bool{false, true} {
		t.Run(fmt.Sprint("replicas=", replicas), func(t *testing.T) {
			target := clusterTarget(t, c.Nodes[0])
			target.Seeds = []string{c.Nodes[2].Addr()}
			target.Replicas = replicas
			w := running(t, target)
			before := eventually(t, w, "swept", sweptWell(0))
			if replicas { // the second round: its primary is the former replica
				return
			}
			c.Nodes[1].Kill()
			var wrong string
			after := eventually(t, w, "failed over", func(s *Snapshot) bool {
				if what := exact(s); what != "" && wrong == "" {
					wrong = what
				}
				return s.Health.Swept && s.Health.Sweeps > before.Health.Sweeps+3 && sweptOn(s, c.Replicas[1].Addr())
			})
			if wrong != "" {
				t.Errorf("in between: %s", wrong)
			}
			if what := exact(after); what != "" {
				t.Errorf("in the end: %s", what)
			}
		})
	}
}

// overwrite keeps a Cluster busy without changing how many keys there are.
func overwrite(ctx context.Context, client *redis.ClusterClient) {
	for i := 0; ctx.Err() == nil; i++ {
		if i%10 != 0 {
			_ = client.Set(ctx, fmt.Sprintf("limit:%d", i%fleetKeys), 1, time.Hour).Err()
		}
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

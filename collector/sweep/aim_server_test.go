// Sweeps of one node of real Clusters, with one dictionary a database and one a
// slot, whichever the server has.

package sweep

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// clusterKeys are names of keys in a node's slots, an nth of them in one slot.
func clusterKeys(c *redistest.Cluster, node *redistest.Server, count, nth int) []string {
	tag := ""
	for i := 0; tag == ""; i++ {
		if name := fmt.Sprintf("t%d", i); c.Node(source.SlotOf(name)) == node {
			tag = name
		}
	}
	var names []string
	for i := 0; len(names) < count; i++ {
		name := fmt.Sprintf("plain:%d", i)
		if len(names)%nth == 0 {
			name = fmt.Sprintf("hot:{%s}:%d", tag, i)
		}
		if c.Node(source.SlotOf(name)) == node {
			names = append(names, name)
		}
	}
	return names
}

func fillNode(t *testing.T, node *redistest.Server, names []string) {
	t.Helper()
	client := node.Client(t)
	const batch = 5000
	for i := 0; i < len(names); i += batch {
		if _, err := client.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			for _, name := range names[i:min(i+batch, len(names))] {
				pipe.Set(t.Context(), name, 1, time.Hour)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// watchedNode counts how often each key is met.
type watchedNode struct {
	source.Node
	met map[string]int
}

func (n *watchedNode) Connect(ctx context.Context) (source.Conn, error) {
	c, err := n.Node.Connect(ctx)
	return &watchedConn{c, n}, err
}

type watchedConn struct {
	source.Conn
	node *watchedNode
}

func (c *watchedConn) TTLs(ctx context.Context, names []string) ([]int64, error) {
	for _, name := range names {
		c.node.met[name]++
	}
	return c.Conn.TTLs(ctx, names)
}

// clusterSweeper sweeps a node by itself, as fast as it can.
func clusterSweeper(t *testing.T, server *redistest.Server, budget int64) (*sweeper, *watchedNode) {
	t.Helper()
	target := sampledTarget(t, "hot=hot:*", budget)
	target.Sweep.Duty, target.Sweep.Interval = 1, 10*time.Minute
	endpoint := spec.Endpoint{Network: "tcp", Address: server.Addr(), Timeout: 10 * time.Second}
	n := &watchedNode{source.NewServer(endpoint, endpoint.Address, source.NewCommandCounts()), map[string]int{}}
	s := newSweeper(target, n, 1)
	s.inCluster = true
	return s, n
}

// TestSweepOfAClusterNode: of a still keyspace with an nth of its keys in one
// slot, samples see that nth, and as many keys as there are; and a walk meets
// every key once, wherever it begins.
func TestSweepOfAClusterNode(t *testing.T) {
	redistest.Run(t, "node", func(t *testing.T, binary string) {
		const keys, nth = 40_000, 20
		c := redistest.StartClusterBinary(t, binary, 3)
		names := clusterKeys(c, c.Nodes[1], keys, nth)
		fillNode(t, c.Nodes[1], names)
		sampleClusterNode(t, c.Nodes[1], keys, 1.0/nth)
		s, n := clusterSweeper(t, c.Nodes[1], 0)
		for round := range 6 { // the first from 0, the others from anywhere
			clear(n.met)
			result := sweepOf(t, s)
			for _, name := range names {
				if n.met[name] != 1 {
					t.Fatalf("walk %d: a key was met %d times", round, n.met[name])
				}
			}
			if d := result.Databases[0]; !d.Walked || len(n.met) != keys || d.Groups[0].Examined() != keys/nth {
				t.Errorf("walk %d met %d keys, %d of them in the slot", round, len(n.met), d.Groups[0].Examined())
			}
			if round > 0 && !s.capabilities.Permits("random_cursor") {
				t.Error("walks begin at 0 only")
			}
		}
	})
}

func sampleClusterNode(t *testing.T, server *redistest.Server, keys int, want float64) {
	t.Helper()
	const sweeps, budget = 12, 8000
	s, _ := clusterSweeper(t, server, budget)
	var met, hot, live, perSlot float64
	for range sweeps {
		d := sweepOf(t, s).Databases[0]
		if d.Walked {
			t.Fatal("it was walked")
		}
		met, hot = met+d.Met(), hot+float64(d.Groups[0].Examined())
		live += d.Met() / d.Share / float64(keys) / sweeps
		if d.Groups[0].Tags.Squares > 0 {
			perSlot++
		}
	}
	// Six times the standard error, the variance being up to 2.5 times that of
	// keys drawn one by one (statistics.md 2).
	bound := 6 * math.Sqrt(2.5*want*(1-want)/met)
	if share := hot / met; math.Abs(share-want) > bound {
		t.Errorf("%.4f of the keys met are in the slot, want %.4f within %.4f", share, want, bound)
	}
	if math.Abs(live-1) > 0.02 {
		t.Errorf("%.4f of the keys are said to live, all do", live)
	}
	if perSlot != 0 && perSlot != sweeps {
		t.Errorf("one dictionary a slot in %v of %d sweeps", perSlot, sweeps)
	}
	t.Logf("%.0f keys met; share %.4f, want %.4f within %.4f; live share %.4f; one dictionary a slot: %v", met, hot/met, want, bound, live, perSlot > 0)
}

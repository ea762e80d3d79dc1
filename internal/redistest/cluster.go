// This file owns a test's Redis Cluster: how its nodes become one, and who has
// which slot. The nodes are Servers: server.go starts, freezes and ends them.

package redistest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	slotNumber      = 16384
	clusterDeadline = 60 * time.Second
)

// Cluster is a Redis Cluster of a test. The slots are shared out
// in order: the first node has the lowest.
type Cluster struct {
	Nodes    []*Server // primaries
	Replicas []*Server // one of each, in their order; none before AddReplicas

	binary string
	args   []string
}

// StartCluster starts n nodes of redis-server from the PATH, makes them one
// Cluster, and returns when every node says that it is complete. args are
// appended to each node's command line. The nodes are stopped when the test
// ends. Where redis-server is missing, see [Require].
func StartCluster(t testing.TB, n int, args ...string) *Cluster {
	t.Helper()
	return StartClusterBinary(t, defaultServer, n, args...)
}

// StartClusterBinary is [StartCluster] for the server of the given name or path.
func StartClusterBinary(t testing.TB, binary string, n int, args ...string) *Cluster {
	t.Helper()
	args = append([]string{"--cluster-enabled", "yes", "--cluster-node-timeout", "5000"}, args...)
	c := &Cluster{binary: binary, args: args}
	for range n {
		c.Nodes = append(c.Nodes, StartBinary(t, binary, args...))
	}
	ctx, cancel := context.WithTimeout(t.Context(), clusterDeadline)
	defer cancel()
	for i, node := range c.Nodes {
		if err := c.join(ctx, node.Client(t), i); err != nil {
			t.Fatalf("redistest: node %d of the cluster: %v", i, err)
		}
	}
	for i, node := range c.Nodes {
		if err := waitComplete(ctx, node.Client(t), n); err != nil {
			t.Fatalf("redistest: node %d of the cluster, %s: %v", i, node.Addr(), err)
		}
	}
	return c
}

// AddReplicas starts a replica of each primary and returns when all are in sync.
func (c *Cluster) AddReplicas(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clusterDeadline)
	defer cancel()
	for _, primary := range c.Nodes {
		replica := StartBinary(t, c.binary, c.args...)
		c.Replicas = append(c.Replicas, replica)
		if err := replica.Client(t).ClusterMeet(ctx, primary.Host(), fmt.Sprint(primary.Port())).Err(); err != nil {
			t.Fatalf("redistest: CLUSTER MEET: %v", err)
		}
	}
	all := len(c.Nodes) + len(c.Replicas)
	for i, replica := range c.Replicas {
		client := replica.Client(t)
		if err := waitComplete(ctx, client, all); err != nil {
			t.Fatalf("redistest: replica %d of the cluster: %v", i, err)
		}
		id, err := c.Nodes[i].Client(t).Do(ctx, "CLUSTER", "MYID").Text()
		if err == nil {
			err = client.ClusterReplicate(ctx, id).Err()
		}
		if err == nil {
			err = waitField(ctx, client, "replication", "master_link_status:up")
		}
		if err != nil {
			t.Fatalf("redistest: replica %d of the cluster: %v", i, err)
		}
	}
	for _, node := range append(c.Nodes, c.Replicas...) { // a failover needs everybody to know the replicas
		if err := waitReplicas(ctx, node.Client(t), len(c.Replicas)); err != nil {
			t.Fatalf("redistest: %s: %v", node.Addr(), err)
		}
	}
}

// waitReplicas polls until a node knows so many replicas.
func waitReplicas(ctx context.Context, node *redis.Client, n int) error {
	return poll(ctx, func() (bool, error) {
		nodes, err := node.ClusterNodes(ctx).Result()
		return strings.Count(nodes, "slave") == n, err // among other flags
	})
}

// waitField polls until a section of INFO says something.
func waitField(ctx context.Context, node *redis.Client, section, field string) error {
	return poll(ctx, func() (bool, error) {
		info, err := node.Info(ctx, section).Result()
		return strings.Contains(info, field), err
	})
}

// poll calls done until it is, or ctx ends.
func poll(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// join gives a node its slots and makes it known to the nodes before it. The
// configuration epochs differ from the start: equal ones take time to settle.
func (c *Cluster) join(ctx context.Context, node *redis.Client, i int) error {
	first, last := c.Slots(i)
	if err := node.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
		return fmt.Errorf("CLUSTER SET-CONFIG-EPOCH: %w", err)
	}
	if err := node.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
		return fmt.Errorf("CLUSTER ADDSLOTS: %w", err)
	}
	for _, other := range c.Nodes[:i] {
		if err := node.ClusterMeet(ctx, other.Host(), fmt.Sprint(other.Port())).Err(); err != nil {
			return fmt.Errorf("CLUSTER MEET: %w", err)
		}
	}
	return nil
}

// waitComplete polls until a node knows all n nodes and who has every slot.
func waitComplete(ctx context.Context, node *redis.Client, n int) error {
	complete := []string{"cluster_state:ok", fmt.Sprintf("cluster_slots_ok:%d", slotNumber), fmt.Sprintf("cluster_known_nodes:%d", n)}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		info, err := node.ClusterInfo(ctx).Result()
		missing := ""
		for _, field := range complete {
			if !strings.Contains(info, field+"\r\n") {
				missing = field
			}
		}
		if err == nil && missing == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it never said %s: %w; it says:\n%s", missing, ctx.Err(), info)
		case <-ticker.C:
		}
	}
}

// Slots are the first and the last slot of a node, by its index.
func (c *Cluster) Slots(node int) (first, last int) {
	return node * slotNumber / len(c.Nodes), (node+1)*slotNumber/len(c.Nodes) - 1
}

// Node is the node that has a slot.
func (c *Cluster) Node(slot int) *Server {
	node := 0
	for _, last := c.Slots(node); last < slot; _, last = c.Slots(node) {
		node++
	}
	return c.Nodes[node]
}

// Client returns a client that sends each command to the node that has its
// key's slot, and is closed when the test ends.
func (c *Cluster) Client(t testing.TB) *redis.ClusterClient {
	t.Helper()
	opt := &redis.ClusterOptions{
		Password:                 c.Nodes[0].password(),
		TLSConfig:                c.Nodes[0].clientTLS(),
		PoolSize:                 10_000, // once as many dials have failed go-redis dials on by itself, and for a second more than the client lives
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	for _, node := range c.Nodes {
		opt.Addrs = append(opt.Addrs, node.Addr())
	}
	client := redis.NewClusterClient(opt)
	t.Cleanup(func() { _ = client.Close() }) // a test may have closed it already
	return client
}

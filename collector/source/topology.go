// Which nodes a target has: a single server, or those that a Cluster or a
// Sentinel names. They are asked anew before each sweep.

package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"keyhealth/collector/spec"
)

// Shard is a part of the keyspace with the nodes that hold it.
type Shard struct {
	ID        string // stays the same as long as its primary does
	Primary   Node
	Replicas  []Node
	InCluster bool
	Slots     int // of a Cluster: how many it has
}

// Topology finds the nodes of a target.
type Topology struct {
	target  spec.Target
	dial    func(spec.Endpoint, string) Node // a node at an address, by its name
	nodes   map[string]Node                  // by name
	cluster bool                             // the address is a node of a Cluster
	known   []string                         // addresses of the Cluster's nodes, as of the last answer
	named   map[string]string                // host names that nodes of the Cluster announce, by address
	ids     map[string]string                // names of the Cluster's nodes, by their ids

	capabilities Capabilities
}

// NewTopology is that of a target whose nodes are made by dial, from where they are
// and their name. Nothing is asked yet.
func NewTopology(target spec.Target, dial func(spec.Endpoint, string) Node) *Topology {
	return &Topology{
		target: target, dial: dial, nodes: map[string]Node{}, named: map[string]string{}, cluster: target.Cluster == spec.ClusterAlways,
		capabilities: NewCapabilities(target),
	}
}

// Shards are the target's, ordered by their primaries' names.
func (t *Topology) Shards(ctx context.Context) ([]Shard, error) {
	switch {
	case t.target.Sentinel != nil:
		return t.askSentinels(ctx)
	case t.cluster:
		return t.askCluster(ctx)
	}
	address := t.target.Endpoint.Address
	return []Shard{{ID: address, Primary: t.node(address, address, "")}}, nil
}

// Follow goes on with all nodes of the Cluster that the address has turned out to
// be in, and says whether that is wanted.
func (t *Topology) Follow() bool {
	if t.cluster || t.target.Cluster == spec.ClusterNever || t.target.Sentinel != nil {
		return false
	}
	t.cluster = true
	return true
}

// node is the one at an address; it stays the same as long as it is there.
// Credentials are the target's: a Cluster or a Sentinel has named the address.
func (t *Topology) node(address, name, hostname string) Node {
	key := nodeKey(address, name, hostname)
	if n := t.nodes[key]; n != nil {
		return n
	}
	endpoint := t.target.Endpoint
	if address != endpoint.Address {
		endpoint.Network, endpoint.Address = "tcp", address
	}
	if tls := endpoint.TLS; tls != nil && tls.ServerName == "" && hostname != "" {
		named := *tls
		named.ServerName = hostname
		endpoint.TLS = &named
	}
	t.nodes[key] = t.dial(endpoint, name)
	return t.nodes[key]
}

func nodeKey(address, name, hostname string) string { return address + " " + name + " " + hostname }

// seeds are the addresses that the user gave.
func (t *Topology) seeds() []string {
	return append([]string{t.target.Endpoint.Address}, t.target.Seeds...)
}

// askCluster asks one node after the other, those of the last answer first, for
// the nodes of the Cluster.
func (t *Topology) askCluster(ctx context.Context) ([]Shard, error) {
	var failed error
	var asked []string
	for _, address := range slices.Concat(t.known, t.seeds()) {
		if slices.Contains(asked, address) {
			continue
		}
		asked = append(asked, address)
		text, err := t.clusterNodes(ctx, address)
		if err == nil {
			var shards []Shard
			if shards, err = t.read(ParseClusterNodes(text), address); err == nil {
				return shards, nil
			}
		}
		if failed == nil || ctx.Err() != nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("CLUSTER NODES: %w", failed)
}

func (t *Topology) clusterNodes(ctx context.Context, address string) (string, error) {
	c, err := t.node(address, address, t.named[address]).Connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := c.ClusterNodes(ctx)
	return text, t.learn("cluster_nodes", err)
}

// learn notes what the user may ask for. A server that knows no such command is
// no matter of permissions.
func (t *Topology) learn(capability string, err error) error {
	if err == nil || ReasonOf(err) == ReasonNoPermission {
		return t.capabilities.Note(capability, err)
	}
	return err
}

// Capabilities are what the target has permitted of naming its nodes, or refused.
func (t *Topology) Capabilities() []Capability { return t.capabilities.List() }

// askSentinels asks one Sentinel after the other for the servers of the set.
func (t *Topology) askSentinels(ctx context.Context) ([]Shard, error) {
	var failed error
	for _, address := range t.seeds() {
		sh, err := t.askSentinel(ctx, address)
		if err == nil {
			return []Shard{*sh}, nil
		}
		if failed == nil || ctx.Err() != nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("asking the Sentinels: %w", failed)
}

func (t *Topology) askSentinel(ctx context.Context, address string) (*Shard, error) {
	own := t.target.Sentinel
	endpoint := t.target.Endpoint
	endpoint.Network, endpoint.Address = "tcp", address
	endpoint.Username, endpoint.Password, endpoint.PasswordFile = own.Username, own.Password, own.PasswordFile
	c, err := t.dial(endpoint, address).Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	primary, replicas, err := c.SentinelServers(ctx, own.Master)
	if t.learn("sentinel", err) != nil {
		return nil, err
	}
	if len(replicas) > mostNodes {
		return nil, errManyNodes
	}
	t.nodes = map[string]Node{}
	sh := &Shard{ID: primary, Primary: t.node(primary, primary, "")}
	for _, replica := range replicas {
		sh.Replicas = append(sh.Replicas, t.node(replica, replica, ""))
	}
	return sh, nil
}

// ErrIsCluster fails the sweep of a Cluster's node by itself.
var ErrIsCluster = &Failure{Reason: ReasonCluster, Err: errors.New("the address is a node of a Redis Cluster, which is not to be followed")}

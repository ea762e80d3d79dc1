// Which nodes a target has: a single server, or those that a Cluster or a
// Sentinel names. They are asked anew before each sweep.

package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// shard is a part of the keyspace with the nodes that hold it.
type shard struct {
	id        string // stays the same as long as its primary does
	primary   node
	replicas  []node
	inCluster bool
	slots     int
}

// topology finds the nodes of a target.
type topology struct {
	target  Target
	dial    func(Endpoint, string) node // a node at an address, by its name
	nodes   map[string]node             // by name
	cluster bool                        // the address is a node of a Cluster
	known   []string                    // addresses of the Cluster's nodes, as of the last answer
	named   map[string]string           // host names that nodes of the Cluster announce, by address

	capabilities capabilities
}

func newTopology(target Target, dial func(Endpoint, string) node) *topology {
	return &topology{
		target: target, dial: dial, nodes: map[string]node{}, named: map[string]string{}, cluster: target.Cluster == ClusterAlways,
		capabilities: newCapabilities(target),
	}
}

// shards are the target's, ordered by their primaries' names.
func (t *topology) shards(ctx context.Context) ([]shard, error) {
	switch {
	case t.target.Sentinel != nil:
		return t.askSentinels(ctx)
	case t.cluster:
		return t.askCluster(ctx)
	}
	address := t.target.Endpoint.Address
	return []shard{{id: address, primary: t.node(address, address, "")}}, nil
}

// follow goes on with all nodes of the Cluster that the address has turned out to
// be in, and says whether that is wanted.
func (t *topology) follow() bool {
	if t.cluster || t.target.Cluster == ClusterNever || t.target.Sentinel != nil {
		return false
	}
	t.cluster = true
	return true
}

// node is the one at an address; it stays the same as long as it is there.
// Credentials are the target's: a Cluster or a Sentinel has named the address.
func (t *topology) node(address, name, hostname string) node {
	key := address + " " + name + " " + hostname
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

// seeds are the addresses that the user gave.
func (t *topology) seeds() []string {
	return append([]string{t.target.Endpoint.Address}, t.target.Seeds...)
}

// askCluster asks one node after the other, those of the last answer first, for
// the nodes of the Cluster.
func (t *topology) askCluster(ctx context.Context) ([]shard, error) {
	var failed error
	var asked []string
	for _, address := range slices.Concat(t.known, t.seeds()) {
		if slices.Contains(asked, address) {
			continue
		}
		asked = append(asked, address)
		text, err := t.clusterNodes(ctx, address)
		if err == nil {
			if shards := t.clusterShards(parseClusterNodes(text), address); len(shards) > 0 {
				return shards, nil
			}
			err = &Failure{Reason: ReasonCluster, Err: errors.New("the Cluster has no slots")}
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

func (t *topology) clusterNodes(ctx context.Context, address string) (string, error) {
	c, err := t.node(address, address, t.named[address]).connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.close()
	text, err := c.clusterNodes(ctx)
	return text, t.learn("cluster_nodes", err)
}

// learn notes what the user may ask for. A server that knows no such command is
// no matter of permissions.
func (t *topology) learn(capability string, err error) error {
	if err == nil || reasonOf(err) == ReasonNoPermission {
		return t.capabilities.note(capability, err)
	}
	return err
}

// clusterShards are the masters that hold slots, with their replicas.
func (t *topology) clusterShards(nodes []memberNode, asked string) []shard {
	of, named := map[string]*shard{}, map[string]string{}
	var ids, known []string
	for _, n := range nodes {
		address, name, ok := n.reached(asked)
		if !ok || !n.is("master") || len(n.slots) == 0 {
			continue
		}
		of[n.id] = &shard{id: n.id, primary: t.node(address, name, n.hostname), inCluster: true, slots: claim(n.slots).size()}
		ids, known = append(ids, n.id), append(known, address)
		named[address] = n.hostname
	}
	for _, n := range nodes {
		address, name, ok := n.reached(asked)
		if sh := of[n.master]; ok && sh != nil && n.is("slave") && !n.is("fail") && !n.is("noaddr") {
			sh.replicas = append(sh.replicas, t.node(address, name, n.hostname))
			known = append(known, address)
			named[address] = n.hostname
		}
	}
	t.known, t.named = known, named
	return sorted(ids, of)
}

// askSentinels asks one Sentinel after the other for the servers of the set.
func (t *topology) askSentinels(ctx context.Context) ([]shard, error) {
	var failed error
	for _, address := range t.seeds() {
		sh, err := t.askSentinel(ctx, address)
		if err == nil {
			return []shard{*sh}, nil
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

func (t *topology) askSentinel(ctx context.Context, address string) (*shard, error) {
	own := t.target.Sentinel
	endpoint := t.target.Endpoint
	endpoint.Network, endpoint.Address = "tcp", address
	endpoint.Username, endpoint.Password, endpoint.PasswordFile = own.Username, own.Password, own.PasswordFile
	c, err := t.dial(endpoint, address).connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	primary, replicas, err := c.sentinelServers(ctx, own.Master)
	if t.learn("sentinel", err) != nil {
		return nil, err
	}
	sh := &shard{id: primary, primary: t.node(primary, primary, "")}
	for _, replica := range replicas {
		sh.replicas = append(sh.replicas, t.node(replica, replica, ""))
	}
	return sh, nil
}

// sorted are the shards by their primaries' names.
func sorted(ids []string, of map[string]*shard) []shard {
	shards := make([]shard, len(ids))
	for i, id := range ids {
		shards[i] = *of[id]
	}
	slices.SortFunc(shards, func(a, b shard) int { return cmp.Compare(a.primary.name(), b.primary.name()) })
	return shards
}

var errIsCluster = &Failure{Reason: ReasonCluster, Err: errors.New("the address is a node of a Redis Cluster, which is not to be followed")}

// checkMode refuses what would be counted wrongly: one node of a Cluster is not
// its whole keyspace, unless it is swept as a part of it, and a Sentinel has none.
func (s *sweeper) checkMode(info Info) error {
	switch mode := info.Mode(); {
	case len(s.target.Seeds) > 0 && s.target.Sentinel == nil && mode != "cluster":
		return &Failure{Reason: ReasonRefused, Err: errors.New("the server is no node of a Cluster: several addresses are seeds of one, and several servers are several targets")}
	case mode == "cluster" && !s.inCluster && s.target.Cluster != ClusterNever:
		return errIsCluster
	case mode == "sentinel":
		return &Failure{Reason: ReasonRefused, Err: errors.New("the address is a Sentinel, which holds no keys: write redis+sentinel://HOST/MASTER")}
	case info.Text("master_sync_in_progress") == "1":
		return &Failure{Reason: ReasonLoading, Err: errors.New("the replica is still receiving its master's keys")}
	case s.isReplica && (info.Role() != "replica" || info.Text("master_link_status") != "up"):
		return &Failure{Reason: ReasonMasterDown, Err: errors.New("the replica is not in sync")}
	}
	return nil
}

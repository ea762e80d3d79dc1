// The shards that a node of a Cluster names, and how far it is believed. Who is asked,
// and in which order, is topology.go.

package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// mostNodes is more than a Cluster or a Sentinel set can use; each one costs memory.
const mostNodes = 2000

var (
	errNoSlots   = &Failure{Reason: ReasonCluster, Err: errors.New("the Cluster has no slots")}
	errForeign   = &Failure{Reason: ReasonCluster, Err: errors.New("what answers there is of another Cluster")}
	errManyNodes = &Failure{Reason: ReasonOther, Err: fmt.Errorf("more than %d nodes are named", mostNodes)}
)

// read makes shards of what the node at an address says. One that was only named by
// other nodes is believed while it shares a node with what they said: its address
// may belong to another Cluster by now.
func (t *Topology) read(nodes []Member, asked string) ([]Shard, error) {
	known := slices.ContainsFunc(nodes, func(n Member) bool { return t.ids[n.ID] != "" })
	switch {
	case len(nodes) > mostNodes:
		return nil, errManyNodes
	case len(t.ids) > 0 && !known && !slices.Contains(t.seeds(), asked):
		return nil, errForeign
	}
	if shards := t.clusterShards(nodes, asked); len(shards) > 0 {
		return shards, nil
	}
	return nil, errNoSlots
}

// clusterShards are the masters that hold slots, with their replicas.
func (t *Topology) clusterShards(nodes []Member, asked string) []Shard {
	of, named, names := map[string]*Shard{}, map[string]string{}, map[string]string{}
	before := t.nodes
	t.nodes = map[string]Node{} // those that are named no longer are forgotten
	keep := func(address, name, hostname string) Node {
		if key := nodeKey(address, name, hostname); before[key] != nil {
			t.nodes[key] = before[key]
		}
		return t.node(address, name, hostname)
	}
	var ids, known []string
	for _, n := range nodes {
		if !n.Is("master") || len(n.slots) == 0 {
			continue
		}
		sh := &Shard{ID: n.ID, InCluster: true, Slots: sizeOf(n.slots)}
		if address, name, ok := n.reached(asked); ok {
			sh.Primary = keep(address, name, n.hostname)
			known, named[address] = append(known, address), n.hostname
		} else {
			sh.Primary = lostNode(cmp.Or(t.ids[n.ID], "unknown"))
		}
		of[n.ID], names[n.ID] = sh, sh.Primary.Name()
		ids = append(ids, n.ID)
	}
	for _, n := range nodes {
		address, name, ok := n.reached(asked)
		if sh := of[n.master]; ok && sh != nil && n.Is("slave") && !n.Is("fail") && !n.Is("noaddr") {
			sh.Replicas = append(sh.Replicas, keep(address, name, n.hostname))
			known, named[address] = append(known, address), n.hostname
			names[n.ID] = name
		}
	}
	if len(ids) == 0 { // a node that has lost its Cluster: what the others said stands
		t.nodes = before
		return nil
	}
	t.known, t.named, t.ids = known, named, names
	return sorted(ids, of)
}

// lostNode has slots and no address that anybody knows: its keys are missing.
type lostNode string

func (n lostNode) Name() string { return string(n) }

func (lostNode) Connect(context.Context) (Conn, error) {
	return nil, &Failure{Reason: ReasonUnreachable, Err: errors.New("the Cluster does not know where the node is"), Hint: hintLost}
}

// sorted are the shards by their primaries' names.
func sorted(ids []string, of map[string]*Shard) []Shard {
	shards := make([]Shard, len(ids))
	for i, id := range ids {
		shards[i] = *of[id]
	}
	slices.SortFunc(shards, func(a, b Shard) int { return cmp.Compare(a.Primary.Name(), b.Primary.Name()) })
	return shards
}

package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"keyhealth/collector/spec"
)

// told is a Cluster of which each address says what is in the map; others are down.
type told map[string]string

type toldNode struct {
	says          told
	address, name string
}

func (n toldNode) Name() string { return n.name }

func (n toldNode) Connect(context.Context) (Conn, error) {
	if _, up := n.says[n.address]; !up {
		return nil, &Failure{Reason: ReasonUnreachable, Err: errors.New("down")}
	}
	return toldConn{text: n.says[n.address]}, nil
}

type toldConn struct {
	Conn
	text string
}

func (c toldConn) ClusterNodes(context.Context) (string, error) { return c.text, nil }
func (toldConn) Close()                                         {}

func (says told) topology() *Topology {
	target := spec.Target{Endpoint: spec.Endpoint{Network: "tcp", Address: "seed:1"}, Cluster: spec.ClusterAlways}
	return NewTopology(target, func(e spec.Endpoint, name string) Node { return toldNode{says, e.Address, name} })
}

// names are those of the shards' primaries, with their slots; or the error.
func names(t *testing.T, topology *Topology) string {
	t.Helper()
	shards, err := topology.Shards(t.Context())
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, sh := range shards {
		all = append(all, fmt.Sprint(sh.Primary.Name(), "=", sh.Slots))
	}
	return strings.Join(all, " ")
}

const (
	nodeA = "aa seed:1@2 master - 0 0 1 connected 0-99\n"
	nodeB = "bb other:1@2 master - 0 0 1 connected 100-199\n"
)

// TestLostNode: slots of a node whose address nobody knows any more are missing.
func TestLostNode(t *testing.T) {
	says := told{"seed:1": nodeA + nodeB}
	topology := says.topology()
	if got := names(t, topology); got != "other:1=100 seed:1=100" {
		t.Fatal(got)
	}
	says["seed:1"] = nodeA + "bb :0@0 master,noaddr - 0 0 1 disconnected 100-199\n"
	for range 2 {
		if got := names(t, topology); got != "other:1=100 seed:1=100" {
			t.Errorf("lost: %s", got)
		}
	}
	shards, _ := topology.Shards(t.Context())
	if _, err := shards[0].Primary.Connect(t.Context()); ReasonOf(err) != ReasonUnreachable || Advice(err) != hintLost {
		t.Errorf("its keys: %v", err)
	}
	if got := names(t, told{"seed:1": says["seed:1"]}.topology()); got != "seed:1=100 unknown=100" {
		t.Errorf("never known: %s", got)
	}
}

// TestSeedWithoutItsCluster: a seed that has forgotten the Cluster takes nothing of
// what is known of it.
func TestSeedWithoutItsCluster(t *testing.T) {
	says := told{"seed:1": nodeA + nodeB, "other:1": nodeA + nodeB}
	topology := says.topology()
	names(t, topology)
	says["seed:1"] = "zz :1@2 myself,master - 0 0 1 connected\n"
	says["other:1"] = "aa :0@0 master,noaddr - 0 0 1 disconnected 0-99\n" + nodeB
	if got := names(t, topology); got != "other:1=100 seed:1=100" {
		t.Errorf("%s", got)
	}
}

// TestForeignCluster: the address of a node may belong to another Cluster by now. A
// seed is what the user said it is.
func TestForeignCluster(t *testing.T) {
	const foreign = "xx somewhere:1@2 master - 0 0 1 connected 0-16383\n"
	says := told{"seed:1": nodeA + nodeB, "other:1": nodeA + nodeB}
	topology := says.topology()
	names(t, topology)
	says["other:1"] = foreign
	if got := names(t, topology); got != "other:1=100 seed:1=100" {
		t.Errorf("the other node is foreign: %s", got)
	}
	delete(says, "seed:1")
	if got := names(t, topology); strings.Contains(got, "somewhere") {
		t.Errorf("and the seed is down: %s", got)
	}
	says["seed:1"] = foreign
	if got := names(t, topology); got != "somewhere:1=16384" {
		t.Errorf("the seed is of another Cluster: %s", got)
	}
}

// TestNamedAddresses: what is no address is neither dialled nor shown.
func TestNamedAddresses(t *testing.T) {
	for _, address := range []string{"\xff\xfe:1", "a b:1", "a\nb:1", strings.Repeat("x", 300) + ":1", "h:0", "h:99999", "h:", "h"} {
		if got := names(t, told{"seed:1": "aa " + address + "@2 master - 0 0 1 connected 0-99\n"}.topology()); strings.Contains(got, "=") && got != "unknown=100" {
			t.Errorf("%q: %s", address, got)
		}
	}
	many := nodeA
	for i := range mostNodes {
		many += fmt.Sprintf("n%d h%d:1@2 slave aa 0 0 1 connected\n", i, i)
	}
	if got := names(t, told{"seed:1": many}.topology()); !strings.Contains(got, "more than 2000 nodes") {
		t.Errorf("of many nodes: %.80s", got)
	}
}

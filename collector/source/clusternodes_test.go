package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"keyhealth/collector/spec"
)

// named is a node with a name that nobody connects to.
type named string

func (n named) Name() string                          { return string(n) }
func (n named) Connect(context.Context) (Conn, error) { return nil, errors.New("no node") }

func TestClusterShards(t *testing.T) {
	const nodes = `a1 10.0.0.1:6379@16379,one.example,shard-id=x myself,master - 0 1 1 connected 0-5460
b1 :6380@16380 master - 0 1 2 connected 5461-10922 [5-<-a1]
c1 [fd00::3]:6379@16379 master,fail - 0 1 3 connected 10923-16383
a2 10.0.0.2:6379@16379 slave a1 0 1 1 connected
a3 10.0.0.3:6379@16379 slave,fail a1 0 1 1 disconnected
b2 10.0.0.4:6379@16379,,shard-id=y slave b1 0 1 2 connected
e1 10.0.0.5:6379@16379 master - 0 1 4 connected
f1 10.0.0.6:0@0 master,noaddr - 0 1 5 disconnected 1-2
nonsense
`
	var dialled []string
	target := spec.Target{Endpoint: spec.Endpoint{Network: "tcp", Address: "seed:6379", Username: "app", TLS: &spec.TLS{}}}
	topology := NewTopology(target, func(e spec.Endpoint, name string) Node {
		dialled = append(dialled, fmt.Sprint(e.Address, " ", e.TLS.ServerName, " ", e.Username))
		return named(name)
	})
	var got []string
	for _, sh := range topology.clusterShards(ParseClusterNodes(nodes), "127.0.0.1:7000") {
		line := sh.ID + " " + sh.Primary.Name()
		for _, replica := range sh.Replicas {
			line += " " + replica.Name()
		}
		got = append(got, line)
	}
	want := "b1 127.0.0.1:6380 10.0.0.4:6379\nc1 [fd00::3]:6379\na1 one.example:6379 10.0.0.2:6379\nf1 unknown"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if !strings.Contains(strings.Join(dialled, "\n"), "10.0.0.1:6379 one.example app") {
		t.Errorf("dialled %q", dialled)
	}
}

// The same on the three nodes of a Cluster: a group without hash tags, one whose
// users' keys share a tag and fare alike, and one that lives in a single slot.

package sweep

import (
	"context"
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/internal/redistest"
)

// inCluster gives the crowds of a fill their tags, and makes them smaller.
func inCluster(crowds []crowd, divisor int) []crowd {
	tagged := map[string]int{"half": 0, "twentieth": 20, "rare": 1 << 30}
	var all []crowd
	for _, c := range crowds {
		all = append(all, crowd{name: c.name, keys: c.keys / divisor, zombies: c.zombies / divisor, flicker: c.flicker / divisor, tagged: tagged[c.name]})
	}
	return all
}

// key is the name of the i-th key, and whether it has a TTL.
func (c crowd) key(salt, i int) (name string, expires bool) {
	kind := "fine"
	switch {
	case i < c.zombies:
		kind = "zombie"
	case i < c.without():
		kind = "flicker"
	}
	name = fmt.Sprintf("%s:%d:%s:%d", c.name, salt, kind, i)
	if c.tagged > 0 {
		name += fmt.Sprintf(":{%s-%d-%d}", c.name, salt, i/c.tagged)
	}
	return name, kind == "fine"
}

// fillCluster empties the nodes and fills them.
func fillCluster(t *testing.T, c *redistest.Cluster, salt int, crowds []crowd) {
	t.Helper()
	for _, node := range c.Nodes {
		client := node.Client(t)
		pipe, queued := client.Pipeline(), 0
		pipe.FlushAll(t.Context())
		for _, crowd := range crowds {
			for i := range crowd.keys {
				name, expires := crowd.key(salt, i)
				if c.Node(source.SlotOf(name)) != node {
					continue
				}
				var ttl time.Duration
				if expires {
					ttl = 10*time.Hour + time.Duration(i)*time.Millisecond
				}
				pipe.Set(t.Context(), name, 7, ttl)
				if queued++; queued%5000 == 0 {
					send(t, pipe.Exec)
				}
			}
		}
		send(t, pipe.Exec)
		_ = client.Close()
	}
}

// TestStatsTags on a fake with one dictionary a slot: users of 20 keys each, of
// which all are zombies or none, and a group of single keys beside them.
func TestStatsTags(t *testing.T) {
	crowds := []crowd{
		{name: "user", keys: 4000, zombies: 400, tagged: 20},
		{name: "plain", keys: 4000, zombies: 400},
		{name: "rest", keys: 8000, zombies: 2000},
	}
	n := fake.NewNode(t)
	n.JoinCluster(true)
	cells := repetition{
		target: crowdTarget(t, "", crowds, 1000), nodes: []source.Node{n}, cluster: true, crowds: crowds,
		fill: func(salt int) {
			for _, c := range crowds {
				for i := range c.keys {
					name, expires := c.key(salt, i)
					ttl := 10 * time.Hour
					if !expires {
						ttl = 0
					}
					n.Set(0, name, ttl)
				}
			}
		},
		look:      func(*Result) { n.Forget() },
		keyspaces: 1, sweeps: 200,
	}.run(t)
	t.Logf("\n%s", table(cells))
	wantAll(t, cells, 1e-8)
}

func send[T any](t *testing.T, exec func(context.Context) (T, error)) {
	t.Helper()
	if _, err := exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStatsCluster(t *testing.T) {
	divisor, keyspaces, sweeps, all := 4, 1, 20, fills()[:1]
	if inFull() {
		divisor, keyspaces, sweeps, all = 1, 10, 30, fills()
	}
	redistest.Run(t, "on", func(t *testing.T, binary string) {
		cluster := redistest.StartClusterBinary(t, binary, 3)
		var cells []*cell
		for _, crowds := range all {
			crowds = inCluster(crowds, divisor)
			target := crowdTarget(t, "", crowds, int64(10_000/divisor))
			var nodes []source.Node
			for _, server := range cluster.Nodes {
				target.Endpoint.Address = server.Addr()
				nodes = append(nodes, serverOf(target))
			}
			cells = append(cells, repetition{
				target: target, nodes: nodes, cluster: true, crowds: crowds,
				fill:      func(salt int) { fillCluster(t, cluster, salt, crowds) },
				keyspaces: keyspaces, sweeps: sweeps,
			}.run(t)...)
		}
		t.Logf("%s\n%s", cluster.Nodes[0].Version(t), table(cells))
		wantAll(t, cells, chances())
	})
}

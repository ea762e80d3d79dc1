// Pooled figures hold what those of one sample do. The samples of a pool are
// shared by ten sweeps, so there are many keyspaces.

package sweep

import (
	"fmt"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// TestStatsPooling on a keyspace of 10,000 keys, 5 % of which a sample meets:
// about 50 of a group's 1,000 keys, 500 in a pool.
func TestStatsPooling(t *testing.T) {
	var cells []*cell
	for _, percent := range []int{1, 5, 50} {
		without := 1000 * percent / 100
		crowds := []crowd{
			{name: "rare", keys: 1000, zombies: without - without/5, flicker: without / 5},
			{name: "rest", keys: 9000, zombies: 4000},
		}
		n := fake.NewNode(t)
		cells = append(cells, repetition{
			target: poolingTarget(t, crowds, 500), nodes: []source.Node{flickering{n}}, crowds: crowds,
			fill:      func(salt int) { crowdNode(n, salt, crowds) },
			look:      func(*Result) { n.Forget() },
			keyspaces: 24, sweeps: 10,
		}.run(t)...)
	}
	t.Logf("\n%s", table(cells))
	wantAll(t, cells, 1e-8)
	for _, c := range cells {
		if n := c.examined.mean(); n < 450 || n > 600 {
			t.Errorf("%.0f keys of a group stand behind its figures, want those of ten samples", n)
		}
	}
}

// crowdNode is fillCrowds for a fake.
func crowdNode(n *fake.Node, salt int, crowds []crowd) {
	n.Flush()
	for _, c := range crowds {
		name := fmt.Sprintf("%s:%d:", c.name, salt)
		n.Put(0, name+"zombie:%d", c.zombies, 0)
		n.Put(0, name+"flicker:%d", c.flicker, 0)
		n.Put(0, name+"fine:%d", c.keys-c.without(), 10*time.Hour)
	}
}

func poolingTarget(t *testing.T, crowds []crowd, budget int64) spec.Target {
	target := crowdTarget(t, "", crowds, budget)
	target.Sweep.Pool = spec.DefaultSweep().Pool
	return target
}

func measurePooling(t *testing.T) {
	server := redistest.Start(t)
	var cells []*cell
	for _, crowds := range fills() {
		target := poolingTarget(t, crowds, 10_000)
		target.Endpoint.Address = server.Addr()
		cells = append(cells, repetition{
			target: target, nodes: []source.Node{serverOf(target)}, crowds: crowds,
			fill:      func(salt int) { fillCrowds(t, server, salt, crowds) },
			keyspaces: 20, sweeps: 50,
		}.run(t)...)
	}
	var pooled []*cell
	for _, c := range cells {
		if c.examined.mean() < 2*standsAlone {
			pooled = append(pooled, c)
		}
	}
	t.Logf("\n%s", table(pooled))
	wantAll(t, pooled, chances())
}

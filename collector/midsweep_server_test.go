// A slot moves at a chosen moment of a sweep, on real servers: the sweep of one
// node is held up while the others end.

package collector

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/collector/sweep"
	"keyhealth/internal/redistest"
)

// gate holds up one node's second sweep before a command.
type gate struct {
	node, command string
	reached       chan struct{} // closed: it is held up
	open          chan struct{} // closed: it goes on
	ended         chan string   // nodes whose second sweep has ended

	mu     sync.Mutex
	sweeps map[string]int // that have begun
}

func newGate(node, command string) *gate {
	return &gate{node: node, command: command, reached: make(chan struct{}), open: make(chan struct{}), ended: make(chan string, 100), sweeps: map[string]int{}}
}

// begin counts a node's sweeps.
func (g *gate) begin(node string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sweeps[node]++
	return g.sweeps[node]
}

func (g *gate) pass(ctx context.Context, c *gatedConn, command string) {
	if c.node != g.node || command != g.command || c.sweep != 2 || c.passed {
		return
	}
	c.passed = true
	close(g.reached)
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}

// gatedNode is a node whose sweeps pass a gate.
type gatedNode struct {
	source.Node
	gate *gate
}

func (n *gatedNode) Connect(ctx context.Context) (source.Conn, error) {
	c, err := n.Node.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &gatedConn{Conn: c, gate: n.gate, node: n.Name()}, nil
}

type gatedConn struct {
	source.Conn
	gate   *gate
	node   string
	sweep  int // of the node; 0: none
	passed bool
}

func (c *gatedConn) Info(ctx context.Context) (source.Info, error) {
	if c.sweep == 0 {
		c.sweep = c.gate.begin(c.node)
	}
	c.gate.pass(ctx, c, "info")
	return c.Conn.Info(ctx)
}

func (c *gatedConn) Scan(ctx context.Context, cursors []uint64, count int) ([]source.Page, error) {
	c.gate.pass(ctx, c, "scan")
	return c.Conn.Scan(ctx, cursors, count)
}

func (c *gatedConn) Close() {
	if c.sweep == 2 {
		c.gate.ended <- c.node
	}
	c.Conn.Close()
}

// TestSlotMovesInMidSweep: a slot moves, or half of its keys do, while one node
// has been swept and another has not. No key is counted twice or missed; the
// second sweep from then on is right.
func TestSlotMovesInMidSweep(t *testing.T) {
	redistest.Run(t, "move", func(t *testing.T, binary string) {
		c := startReshard(t, binary)
		for i, test := range []struct {
			name    string
			late    string // the node that is held up: the slot's old or new one
			command string // before which
			half    bool
		}{
			{"to a node that is still to be swept", "new", "info", false},
			{"from a node that is still to be swept", "old", "info", false},
			{"to a node that is being swept", "new", "scan", false},
			{"from a node that is being swept", "old", "scan", false},
			{"half of it to a node that is still to be swept", "new", "info", true},
			{"half of it from a node that is still to be swept", "old", "info", true},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := &reshard{t: t, cluster: c.cluster, mover: redistest.NewMover(t, c.cluster.Nodes), judged: map[uint64]bool{}}
				slot := source.SlotOf(tagged(i)) // another one each time
				old, to := c.where[slot], r.cluster.Node((slot+source.HashSlots/3)%source.HashSlots)
				late := to
				if test.late == "old" {
					late = old
				}
				g := newGate(late.Addr(), test.command)
				r.gated(g)
				r.holdUp(g)
				r.moveAtOnce(slot, old, to, test.half)
				close(g.open)
				r.settle("right", func(s *Snapshot) bool { return len(s.Nodes) == 3 })
			})
		}
	})
}

// gated starts a watcher whose sweeps pass a gate.
func (r *reshard) gated(g *gate) {
	r.t.Helper()
	target := clusterTarget(r.t, r.cluster.Nodes[0])
	target.Cluster = spec.ClusterAlways // else the first sweep of the seed finds that out
	counts := source.NewCommandCounts()
	dial := func(e spec.Endpoint, name string) source.Node {
		return &gatedNode{source.NewServer(e, name, counts), g}
	}
	r.w = newWatcher(target, sweep.NewFleet(target, source.NewTopology(target, dial), 1), counts, slog.New(slog.DiscardHandler))
	r.log = loudly(r.t, r.w)
	eventually(r.t, r.w, "swept", sweptWell(0))
}

// holdUp returns when the gate holds up one node and the others have been swept.
func (r *reshard) holdUp(g *gate) {
	r.t.Helper()
	timeout := time.After(time.Minute)
	for waiting := len(r.cluster.Nodes) - 1; waiting > 0; {
		select {
		case node := <-g.ended:
			if node != g.node {
				waiting--
			}
		case <-timeout:
			r.t.Fatal("the other nodes were not swept")
		}
	}
	select {
	case <-g.reached:
	case <-timeout:
		r.t.Fatal("the gate was not reached")
	}
}

// moveAtOnce moves a slot, or half of its keys.
func (r *reshard) moveAtOnce(slot int, from, to *redistest.Server, half bool) {
	r.t.Helper()
	ctx := r.t.Context()
	keys := reshardKeys / reshardTags
	if half {
		keys /= 2
	}
	err := r.mover.Begin(ctx, slot, from, to)
	if err == nil {
		_, err = r.mover.Keys(ctx, slot, from, to, keys)
	}
	if err == nil && !half {
		err = r.mover.End(ctx, slot, to)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

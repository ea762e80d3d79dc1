// The node: it implements source.Node, keeps its own clock, and lets a test fail,
// hang, delay or watch every command, or change the keyspace right before it. Its
// tables and INFO are in table.go, its commands in conn.go and values.go.

package fake

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"keyhealth/collector/source"
)

// Call is one command, or one write of several alike.
type Call struct {
	Command string // connect, ping, time, info, select, scan, pttl, memory, cluster|nodes or cluster|countkeysinslot
	DB      int
	Names   []string      // of pttl and memory
	Cursors []uint64      // of scan
	Slots   []int         // of cluster|countkeysinslot
	Pages   []source.Page // scan's answers
	At      time.Time
}

// Node is set up before it is swept; what may change while it is swept has
// a method.
type Node struct {
	t        testing.TB
	Label    string // its name; empty: redis.test:6379
	Sent     *source.CommandCounts
	Sections []Section

	Skew       time.Duration             // of the server's clock
	NoKeyspace bool                      // INFO has no such section
	Opaque     func(place uint64) uint64 // cursors of its own, by their place in SCAN's order; one it did not hand out means 0
	nodes      string                    // what CLUSTER NODES answers
	perSlot    bool                      // tables are one a slot

	mu     sync.Mutex
	tables map[int]*Table
	handed map[uint64]uint64 // opaque cursor to Redis' own
	delays map[string]time.Duration
	before func(ctx context.Context, call Call) error
	denied map[string]bool // commands answered with NOPERM
	hidden string          // prefix of the keys whose PTTL and MEMORY answer NOPERM
	calls  []Call
	open   int // connections
	most   int // connections at a time
}

// NewNode is a Redis 7.0 without keys.
func NewNode(t testing.TB) *Node {
	return &Node{
		t:        t,
		Sent:     source.NewCommandCounts(),
		Sections: someInfo(),
		denied:   map[string]bool{},
		tables:   map[int]*Table{},
		handed:   map[uint64]uint64{},
		delays:   map[string]time.Duration{},
	}
}

// Name implements source.Node.
func (n *Node) Name() string { return cmp.Or(n.Label, "redis.test:6379") }

// Now is the time by the server's clock.
func (n *Node) Now() time.Time { return time.Now().Add(n.Skew) }

// JoinCluster makes it a node of a Cluster that has every slot, before it has
// any keys.
func (n *Node) JoinCluster(perSlot bool) {
	n.Say("redis_mode", "cluster")
	n.Own("0-16383")
	n.perSlot = perSlot
}

// Own is what CLUSTER NODES says of the slots of the node.
func (n *Node) Own(slots string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nodes = "07c37df redis.test:6379@16379 myself,master - 0 0 1 connected " + slots + "\n"
}

// Table is a database, made when it is first used; n.mu is held.
func (n *Node) Table(db int) *Table {
	if n.tables[db] == nil {
		n.tables[db] = NewTable()
		if n.nodes != "" {
			n.tables[db].Slots, n.tables[db].PerSlot = map[int]*Table{}, n.perSlot
		}
	}
	return n.tables[db]
}

// Put adds keys whose names follow a format, numbered from 0; ttl 0: none.
func (n *Node) Put(db int, format string, count int, ttl time.Duration) {
	for i := range count {
		n.Set(db, fmt.Sprintf(format, i), ttl)
	}
}

// Set adds one key, or changes its TTL.
func (n *Node) Set(db int, name string, ttl time.Duration) {
	k := Key{}
	if ttl > 0 {
		k.Expires = n.Now().Add(ttl)
	}
	n.Add(db, name, k)
}

// Add adds one key, or replaces it.
func (n *Node) Add(db int, name string, k Key) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Table(db).Put(name, k)
}

// Remove removes one key.
func (n *Node) Remove(db int, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Table(db).remove(name)
}

// Resize gives a database's table 2^bits buckets for good.
func (n *Node) Resize(db, bits int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Table(db).Fixed = true
	n.Table(db).Resize(bits)
}

// Deny answers a command with NOPERM, or no longer.
func (n *Node) Deny(command string, denied bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.denied[command] = denied
}

// Forbid keeps the keys with a prefix from us; "": none.
func (n *Node) Forbid(prefix string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hidden = prefix
}

// Script sets what happens before each command: an error is its answer.
func (n *Node) Script(before func(ctx context.Context, call Call) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before = before
}

// Delay makes a command take its time.
func (n *Node) Delay(command string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delays[command] = d
}

// Log is what was called so far, of one command or of all ("").
func (n *Node) Log(command string) []Call {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.calls), func(c Call) bool { return command != "" && c.Command != command })
}

// Flush removes every key.
func (n *Node) Flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.tables)
}

// Connections are how many are open, and the most that were at a time.
func (n *Node) Connections() (open, most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open, n.most
}

// Forget empties the log.
func (n *Node) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = nil
}

// Hang is a script's way to never answer: it ends with the connection.
func Hang(ctx context.Context) error {
	<-ctx.Done()
	return CutError()
}

// CutError is what a connection gives whose socket was closed.
func CutError() error { return &source.Failure{Reason: source.ReasonUnreachable, Err: net.ErrClosed} }

// FailOn is a script that answers one command with an error.
func FailOn(command string, err error) func(context.Context, Call) error {
	return func(_ context.Context, call Call) error {
		if call.Command == command {
			return err
		}
		return nil
	}
}

// begin is the part that all commands have in common.
func (n *Node) begin(ctx context.Context, call Call) error {
	if call.Command != "connect" {
		n.Sent.Add(call.Command, uint64(max(1, len(call.Names), len(call.Cursors), len(call.Slots))))
	}
	call.At = time.Now()
	n.mu.Lock()
	n.calls = append(n.calls, call)
	before, delay := n.before, n.delays[call.Command]
	n.mu.Unlock()
	if before != nil {
		if err := before(ctx, call); err != nil {
			return err
		}
	}
	if Sleep(ctx, delay) != nil {
		return CutError()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.denied[call.Command] {
		return source.Refusal("NOPERM this user has no permissions to run the command")
	}
	return nil
}

// Connect implements source.Node.
func (n *Node) Connect(ctx context.Context) (source.Conn, error) {
	if err := n.begin(ctx, Call{Command: "connect"}); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open++
	n.most = max(n.most, n.open)
	return &conn{node: n}, nil
}

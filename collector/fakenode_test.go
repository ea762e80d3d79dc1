// A scripted Redis for the sweep: it implements node and conn, keeps its own
// clock, and lets a test fail, hang, delay or watch every command, or change
// the keyspace right before it. Its tables and INFO are in faketable_test.go.

package collector

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// fakeCall is one command, or one write of several alike.
type fakeCall struct {
	command string // connect, ping, time, info, select, scan, pttl, memory, cluster|nodes or cluster|countkeysinslot
	db      int
	names   []string // of pttl and memory
	cursors []uint64 // of scan
	slots   []int    // of cluster|countkeysinslot
	pages   []page   // scan's answers
	at      time.Time
}

// fakeNode is set up before it is swept; what may change while it is swept has
// a method.
type fakeNode struct {
	t        testing.TB
	label    string // its name; empty: redis.test:6379
	sent     *CommandCounts
	sections []infoSection

	skew       time.Duration             // of the server's clock
	noKeyspace bool                      // INFO has no such section
	opaque     func(place uint64) uint64 // cursors of its own, by their place in SCAN's order; one it did not hand out means 0
	nodes      string                    // what CLUSTER NODES answers
	perSlot    bool                      // tables are one a slot

	mu     sync.Mutex
	tables map[int]*fakeTable
	handed map[uint64]uint64 // opaque cursor to Redis' own
	delays map[string]time.Duration
	before func(ctx context.Context, call fakeCall) error
	denied map[string]bool // commands answered with NOPERM
	hidden string          // prefix of the keys whose PTTL and MEMORY answer NOPERM
	calls  []fakeCall
	open   int // connections
	most   int // connections at a time
}

func newFakeNode(t testing.TB) *fakeNode {
	return &fakeNode{
		t:        t,
		sent:     NewCommandCounts(),
		sections: fakeInfo(),
		denied:   map[string]bool{},
		tables:   map[int]*fakeTable{},
		handed:   map[uint64]uint64{},
		delays:   map[string]time.Duration{},
	}
}

func (n *fakeNode) name() string { return cmp.Or(n.label, "redis.test:6379") }

func (n *fakeNode) now() time.Time { return time.Now().Add(n.skew) }

// joinCluster makes it a node of a Cluster that has every slot, before it has
// any keys.
func (n *fakeNode) joinCluster(perSlot bool) {
	n.say("redis_mode", "cluster")
	n.nodes = "07c37df redis.test:6379@16379 myself,master - 0 0 1 connected 0-16383\n"
	n.perSlot = perSlot
}

// table is a database, made when it is first used; n.mu is held.
func (n *fakeNode) table(db int) *fakeTable {
	if n.tables[db] == nil {
		n.tables[db] = newFakeTable()
		if n.nodes != "" {
			n.tables[db].slots, n.tables[db].perSlot = map[int]*fakeTable{}, n.perSlot
		}
	}
	return n.tables[db]
}

// put adds keys whose names follow a format, numbered from 0; ttl 0: none.
func (n *fakeNode) put(db int, format string, count int, ttl time.Duration) {
	for i := range count {
		n.set(db, fmt.Sprintf(format, i), ttl)
	}
}

// set adds one key, or changes its TTL.
func (n *fakeNode) set(db int, name string, ttl time.Duration) {
	k := fakeKey{}
	if ttl > 0 {
		k.expires = n.now().Add(ttl)
	}
	n.add(db, name, k)
}

func (n *fakeNode) add(db int, name string, k fakeKey) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.table(db).put(name, k)
}

func (n *fakeNode) remove(db int, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.table(db).remove(name)
}

// resize gives a database's table 2^bits buckets for good.
func (n *fakeNode) resize(db, bits int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.table(db).fixed = true
	n.table(db).resize(bits)
}

// deny answers a command with NOPERM, or no longer.
func (n *fakeNode) deny(command string, denied bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.denied[command] = denied
}

// forbid keeps the keys with a prefix from us; "": none.
func (n *fakeNode) forbid(prefix string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hidden = prefix
}

// script sets what happens before each command: an error is its answer.
func (n *fakeNode) script(before func(ctx context.Context, call fakeCall) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before = before
}

// delay makes a command take its time.
func (n *fakeNode) delay(command string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delays[command] = d
}

// log is what was called so far, of one command or of all ("").
func (n *fakeNode) log(command string) []fakeCall {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.calls), func(c fakeCall) bool { return command != "" && c.command != command })
}

// flush removes every key.
func (n *fakeNode) flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.tables)
}

// connections are how many are open, and the most that were at a time.
func (n *fakeNode) connections() (open, most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open, n.most
}

// forget empties the log.
func (n *fakeNode) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = nil
}

// hang is a script's way to never answer: it ends with the connection.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return cutError()
}

// cutError is what a connection gives whose socket was closed.
func cutError() error { return &Failure{Reason: ReasonUnreachable, Err: net.ErrClosed} }

// failOn is a script that answers one command with an error.
func failOn(command string, err error) func(context.Context, fakeCall) error {
	return func(_ context.Context, call fakeCall) error {
		if call.command == command {
			return err
		}
		return nil
	}
}

// begin is the part that all commands have in common.
func (n *fakeNode) begin(ctx context.Context, call fakeCall) error {
	if call.command != "connect" {
		n.sent.add(call.command, uint64(max(1, len(call.names), len(call.cursors), len(call.slots))))
	}
	call.at = time.Now()
	n.mu.Lock()
	n.calls = append(n.calls, call)
	before, delay := n.before, n.delays[call.command]
	n.mu.Unlock()
	if before != nil {
		if err := before(ctx, call); err != nil {
			return err
		}
	}
	if wait(ctx, delay) != nil {
		return cutError()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.denied[call.command] {
		return refusal("NOPERM this user has no permissions to run the command")
	}
	return nil
}

func (n *fakeNode) connect(ctx context.Context) (conn, error) {
	if err := n.begin(ctx, fakeCall{command: "connect"}); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open++
	n.most = max(n.most, n.open)
	return &fakeConn{node: n}, nil
}

// wait is a pause that ends with ctx.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

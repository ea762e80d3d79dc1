// The commands of a fakeNode, as a connection sends them. What is shared by all
// of them is in fakenode_test.go.

package collector

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// fakeConn is a connection to a fakeNode; it has a database selected.
type fakeConn struct {
	node   *fakeNode
	db     int
	closed bool
}

func (c *fakeConn) begin(ctx context.Context, call fakeCall) error {
	if c.closed {
		c.node.t.Errorf("%s was sent on a closed connection", call.command)
	}
	if call.command != "select" {
		call.db = c.db
	}
	return c.node.begin(ctx, call)
}

func (c *fakeConn) readonly(ctx context.Context) error {
	return c.begin(ctx, fakeCall{command: "readonly"})
}

func (c *fakeConn) sentinelServers(ctx context.Context, master string) (string, []string, error) {
	return "", nil, c.begin(ctx, fakeCall{command: "sentinel"})
}

func (c *fakeConn) close() {
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	c.closed = true
	c.node.open--
}

func (c *fakeConn) ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := c.begin(ctx, fakeCall{command: "ping"})
	return time.Since(start), err
}

func (c *fakeConn) now(ctx context.Context) (time.Time, error) {
	err := c.begin(ctx, fakeCall{command: "time"})
	return c.node.now(), err
}

func (c *fakeConn) info(ctx context.Context) (Info, error) {
	if err := c.begin(ctx, fakeCall{command: "info"}); err != nil {
		return Info{}, err
	}
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	return ParseInfo(c.node.infoText()), nil
}

func (c *fakeConn) selectDB(ctx context.Context, db int) error {
	if err := c.begin(ctx, fakeCall{command: "select", db: db}); err != nil {
		return err
	}
	c.db = db
	return nil
}

func (c *fakeConn) scan(ctx context.Context, cursors []uint64, count int) ([]page, error) {
	if err := c.begin(ctx, fakeCall{command: "scan", cursors: slices.Clone(cursors)}); err != nil {
		return nil, err
	}
	n := c.node
	n.mu.Lock()
	defer n.mu.Unlock()
	pages := make([]page, len(cursors))
	for i, cursor := range cursors {
		if n.opaque != nil {
			cursor = n.handed[cursor] // of an unknown one: 0
		}
		pages[i] = n.table(c.db).scan(cursor, count, n.now())
		if next := pages[i].next; n.opaque != nil && next != 0 {
			pages[i].next = n.opaque(bits.Reverse64(next))
			n.handed[pages[i].next] = next
		}
	}
	if last := len(n.calls) - 1; last >= 0 {
		for _, p := range pages { // copies: a sweep may change what it was given
			n.calls[last].pages = append(n.calls[last].pages, page{next: p.next, names: slices.Clone(p.names)})
		}
	}
	return pages, nil
}

func (c *fakeConn) ttls(ctx context.Context, names []string) ([]int64, error) {
	return c.each(ctx, "pttl", names, func(t *fakeTable, name string) int64 { return t.ttl(name, c.node.now()) })
}

func (c *fakeConn) memory(ctx context.Context, names []string) ([]int64, error) {
	return c.each(ctx, "memory", names, func(t *fakeTable, name string) int64 {
		if t.ttl(name, c.node.now()) == ttlGone {
			return ttlGone
		}
		if bytes := t.keys[name].bytes; bytes > 0 {
			return bytes
		}
		return 100
	})
}

func (c *fakeConn) clusterNodes(ctx context.Context) (string, error) {
	if err := c.begin(ctx, fakeCall{command: "cluster|nodes"}); err != nil {
		return "", err
	}
	return c.node.nodes, nil
}

func (c *fakeConn) slotCounts(ctx context.Context, slots []int) ([]int64, error) {
	if err := c.begin(ctx, fakeCall{command: "cluster|countkeysinslot", slots: slices.Clone(slots)}); err != nil {
		return nil, err
	}
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	answers := make([]int64, len(slots))
	for i, slot := range slots {
		if part := c.node.table(c.db).slots[slot]; part != nil {
			answers[i] = int64(len(part.keys))
		}
	}
	return answers, nil
}

// each answers one command a name; like the real connection it turns a NOPERM
// into ttlRefused.
func (c *fakeConn) each(ctx context.Context, command string, names []string, answer func(*fakeTable, string) int64) ([]int64, error) {
	n := c.node
	err := c.begin(ctx, fakeCall{command: command, names: names})
	if err != nil && reasonOf(err) != ReasonNoPermission {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := make([]int64, len(names))
	for i, name := range names {
		if err != nil || n.hidden != "" && strings.HasPrefix(name, n.hidden) {
			answers[i] = ttlRefused
			continue
		}
		answers[i] = answer(n.table(c.db), name)
	}
	return answers, nil
}

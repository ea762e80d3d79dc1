// The commands of a Node, as a connection sends them. What is shared by all
// of them is in node.go.

package fake

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"time"

	"keyhealth/collector/source"
)

// conn is a connection to a Node; it has a database selected.
type conn struct {
	node   *Node
	db     int
	closed bool
}

func (c *conn) begin(ctx context.Context, call Call) error {
	if c.closed {
		c.node.t.Errorf("%s was sent on a closed connection", call.Command)
	}
	if call.Command != "select" {
		call.DB = c.db
	}
	return c.node.begin(ctx, call)
}

func (c *conn) ReadOnly(ctx context.Context) error {
	return c.begin(ctx, Call{Command: "readonly"})
}

func (c *conn) SentinelServers(ctx context.Context, master string) (string, []string, error) {
	return "", nil, c.begin(ctx, Call{Command: "sentinel"})
}

func (c *conn) Close() {
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	c.closed = true
	c.node.open--
}

func (c *conn) Ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := c.begin(ctx, Call{Command: "ping"})
	return time.Since(start), err
}

func (c *conn) Now(ctx context.Context) (time.Time, error) {
	err := c.begin(ctx, Call{Command: "time"})
	return c.node.Now(), err
}

func (c *conn) Info(ctx context.Context) (source.Info, error) {
	if err := c.begin(ctx, Call{Command: "info"}); err != nil {
		return source.Info{}, err
	}
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	return source.ParseInfo(c.node.infoText()), nil
}

func (c *conn) Select(ctx context.Context, db int) error {
	if err := c.begin(ctx, Call{Command: "select", DB: db}); err != nil {
		return err
	}
	c.db = db
	return nil
}

func (c *conn) Scan(ctx context.Context, cursors []uint64, count int) ([]source.Page, error) {
	if err := c.begin(ctx, Call{Command: "scan", Cursors: slices.Clone(cursors)}); err != nil {
		return nil, err
	}
	n := c.node
	n.mu.Lock()
	defer n.mu.Unlock()
	pages := make([]source.Page, len(cursors))
	for i, cursor := range cursors {
		if n.Opaque != nil {
			cursor = n.handed[cursor] // of an unknown one: 0
		}
		pages[i] = n.Table(c.db).Scan(cursor, count, n.Now())
		if next := pages[i].Next; n.Opaque != nil && next != 0 {
			pages[i].Next = n.Opaque(bits.Reverse64(next))
			n.handed[pages[i].Next] = next
		}
	}
	if last := len(n.calls) - 1; last >= 0 {
		for _, p := range pages { // copies: a sweep may change what it was given
			n.calls[last].Pages = append(n.calls[last].Pages, source.Page{Next: p.Next, Names: slices.Clone(p.Names)})
		}
	}
	return pages, nil
}

func (c *conn) TTLs(ctx context.Context, names []string) ([]int64, error) {
	return c.each(ctx, "pttl", names, func(t *Table, name string) int64 { return t.TTL(name, c.node.Now()) })
}

func (c *conn) Memory(ctx context.Context, names []string) ([]int64, error) {
	return c.each(ctx, "memory", names, func(t *Table, name string) int64 {
		if t.TTL(name, c.node.Now()) == source.TTLGone {
			return source.TTLGone
		}
		if bytes := t.Keys[name].Bytes; bytes > 0 {
			return bytes
		}
		return 100
	})
}

func (c *conn) ClusterNodes(ctx context.Context) (string, error) {
	if err := c.begin(ctx, Call{Command: "cluster|nodes"}); err != nil {
		return "", err
	}
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	return c.node.nodes, nil
}

func (c *conn) SlotCounts(ctx context.Context, slots []int) ([]int64, error) {
	if err := c.begin(ctx, Call{Command: "cluster|countkeysinslot", Slots: slices.Clone(slots)}); err != nil {
		return nil, err
	}
	c.node.mu.Lock()
	defer c.node.mu.Unlock()
	answers := make([]int64, len(slots))
	for i, slot := range slots {
		if part := c.node.Table(c.db).Slots[slot]; part != nil {
			answers[i] = int64(len(part.Keys))
		}
	}
	return answers, nil
}

// each answers one command a name; like the real connection it turns a NOPERM
// into TTLRefused.
func (c *conn) each(ctx context.Context, command string, names []string, answer func(*Table, string) int64) ([]int64, error) {
	n := c.node
	err := c.begin(ctx, Call{Command: command, Names: names})
	if err != nil && source.ReasonOf(err) != source.ReasonNoPermission {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := make([]int64, len(names))
	for i, name := range names {
		if err != nil || n.hidden != "" && strings.HasPrefix(name, n.hidden) {
			answers[i] = source.TTLRefused
			continue
		}
		answers[i] = answer(n.Table(c.db), name)
	}
	return answers, nil
}

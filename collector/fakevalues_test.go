// What the keys of a fakeNode hold, as a connection asks for it.

package collector

import (
	"cmp"
	"context"
	"strings"
)

// ask begins a command about several names and answers, for each, its key: nil
// where there is none, or where the ACL keeps it from us.
func (c *fakeConn) ask(ctx context.Context, command string, names []string) ([]*fakeKey, error) {
	n := c.node
	if err := c.begin(ctx, fakeCall{command: command, names: names}); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := make([]*fakeKey, len(names))
	for i, name := range names {
		if t := n.table(c.db); t.ttl(name, n.now()) != ttlGone && (n.hidden == "" || !strings.HasPrefix(name, n.hidden)) {
			keys[i] = t.keys[name]
		}
	}
	return keys, nil
}

func (c *fakeConn) types(ctx context.Context, names []string) ([]string, error) {
	keys, err := c.ask(ctx, "type", names)
	types := make([]string, len(keys))
	for i, k := range keys {
		if types[i] = "none"; k != nil {
			types[i] = cmp.Or(k.keyType, "string")
		} else if c.node.hidden != "" && strings.HasPrefix(names[i], c.node.hidden) {
			types[i] = ""
		}
	}
	return types, err
}

func (c *fakeConn) lengths(ctx context.Context, asked []typedName) ([]int64, error) {
	names := make([]string, len(asked))
	for i, k := range asked {
		names[i] = k.name
	}
	keys, err := c.ask(ctx, "length", names)
	lengths := make([]int64, len(keys))
	for i, k := range keys {
		if lengths[i] = ttlGone; k != nil && k.keyType == asked[i].keyType {
			lengths[i] = k.length
		}
	}
	return lengths, err
}

func (c *fakeConn) strings(ctx context.Context, names []string) ([]stringValue, error) {
	keys, err := c.ask(ctx, "get", names)
	values := make([]stringValue, len(keys))
	for i, k := range keys {
		if k != nil && cmp.Or(k.keyType, "string") == "string" {
			values[i] = stringValue{k.value, true}
		}
	}
	return values, err
}

func (c *fakeConn) noTouch(ctx context.Context) error {
	return c.begin(ctx, fakeCall{command: "no-touch"})
}

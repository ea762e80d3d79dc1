// What the keys of a Node hold, as a connection asks for it.

package fake

import (
	"cmp"
	"context"
	"strings"

	"keyhealth/collector/source"
)

// ask begins a command about several names and answers, for each, its key: nil
// where there is none, or where the ACL keeps it from us.
func (c *conn) ask(ctx context.Context, command string, names []string) ([]*Key, error) {
	n := c.node
	if err := c.begin(ctx, Call{Command: command, Names: names}); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := make([]*Key, len(names))
	for i, name := range names {
		if t := n.Table(c.db); t.TTL(name, n.Now()) != source.TTLGone && (n.hidden == "" || !strings.HasPrefix(name, n.hidden)) {
			keys[i] = t.Keys[name]
		}
	}
	return keys, nil
}

func (c *conn) Types(ctx context.Context, names []string) ([]string, error) {
	keys, err := c.ask(ctx, "type", names)
	types := make([]string, len(keys))
	for i, k := range keys {
		if types[i] = "none"; k != nil {
			types[i] = cmp.Or(k.KeyType, "string")
		} else if c.node.hidden != "" && strings.HasPrefix(names[i], c.node.hidden) {
			types[i] = ""
		}
	}
	return types, err
}

func (c *conn) Lengths(ctx context.Context, asked []source.TypedName) ([]int64, error) {
	names := make([]string, len(asked))
	for i, k := range asked {
		names[i] = k.Name
	}
	keys, err := c.ask(ctx, "length", names)
	lengths := make([]int64, len(keys))
	for i, k := range keys {
		if lengths[i] = source.TTLGone; k != nil && k.KeyType == asked[i].Type {
			lengths[i] = k.Length
		}
	}
	return lengths, err
}

func (c *conn) Strings(ctx context.Context, names []string) ([]source.StringValue, error) {
	keys, err := c.ask(ctx, "get", names)
	values := make([]source.StringValue, len(keys))
	for i, k := range keys {
		if k != nil && cmp.Or(k.KeyType, "string") == "string" {
			values[i] = source.StringValue{Text: k.Value, OK: true}
		}
	}
	return values, err
}

func (c *conn) NoTouch(ctx context.Context) error {
	return c.begin(ctx, Call{Command: "no-touch"})
}

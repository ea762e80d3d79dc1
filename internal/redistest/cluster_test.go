package redistest

import (
	"fmt"
	"strings"
	"testing"
)

// TestStartCluster: a key can be written through any node's slots, and each node
// serves the slots that it is said to have and no others.
func TestStartCluster(t *testing.T) {
	Run(t, "cluster", func(t *testing.T, binary string) {
		c := StartClusterBinary(t, binary, 3)
		const keys = 300
		client := c.Client(t)
		for i := range keys {
			if err := client.Set(t.Context(), fmt.Sprintf("k:%d", i), i, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		var total int64
		for i, node := range c.Nodes {
			size, err := node.Client(t).DBSize(t.Context()).Result()
			if err != nil || size < keys/10 {
				t.Errorf("node %d has %d keys of %d (%v)", i, size, keys, err)
			}
			total += size
		}
		if total != keys {
			t.Errorf("%d keys, want %d", total, keys)
		}
		// The slots of some keys, as CLUSTER KEYSLOT tells them.
		for key, slot := range map[string]int{"foo": 12182, "bar": 5061, "{user1000}.following": 3443} {
			if err := c.Node(slot).Client(t).Set(t.Context(), key, 1, 0).Err(); err != nil {
				t.Errorf("the node of slot %d does not take a key of it: %v", slot, err)
			}
			other := c.Node((slot + slotNumber/3) % slotNumber)
			if err := other.Client(t).Set(t.Context(), key, 1, 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
				t.Errorf("another node than that of slot %d answers %v, want MOVED", slot, err)
			}
		}
	})
}

func TestClusterSlots(t *testing.T) {
	for n := 1; n <= 7; n++ {
		c := &Cluster{Nodes: make([]*Server, n)}
		next := 0
		for i := range n {
			c.Nodes[i] = &Server{}
			first, last := c.Slots(i)
			if first != next || last < first {
				t.Errorf("node %d of %d has slots %d to %d, want them from %d", i, n, first, last, next)
			}
			next = last + 1
			if c.Node(first) != c.Nodes[i] || c.Node(last) != c.Nodes[i] {
				t.Errorf("slots %d and %d are not node %d's of %d", first, last, i, n)
			}
		}
		if next != slotNumber {
			t.Errorf("%d nodes have %d slots", n, next)
		}
	}
}

func TestStartClusterFailureShowsWhy(t *testing.T) {
	Require(t, defaultServer)
	r := record(t, func(tb testing.TB) { StartCluster(tb, 2, "--cluster-enabled", "no") })
	if !strings.Contains(r.fatal, "cluster support disabled") {
		t.Errorf("the failure is %q", r.fatal)
	}
}

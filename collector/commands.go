package collector

import (
	"maps"
	"sync"
)

// commandCounts counts the commands sent to a target, by name.
type commandCounts struct {
	mu     sync.Mutex
	counts map[string]uint64
}

func newCommandCounts() *commandCounts { return &commandCounts{counts: map[string]uint64{}} }

func (c *commandCounts) add(command string, n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[command] += n
}

func (c *commandCounts) snapshot() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

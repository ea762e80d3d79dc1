package collector

import (
	"maps"
	"sync"
)

// CommandCounts counts the commands sent to a target, by name.
type CommandCounts struct {
	mu     sync.Mutex
	counts map[string]uint64
}

// NewCommandCounts begins at nothing.
func NewCommandCounts() *CommandCounts { return &CommandCounts{counts: map[string]uint64{}} }

func (c *CommandCounts) add(command string, n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[command] += n
}

func (c *CommandCounts) snapshot() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

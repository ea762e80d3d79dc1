package source

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

// Add counts n commands more.
func (c *CommandCounts) Add(command string, n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[command] += n
}

// Snapshot is how many of each command were sent so far.
func (c *CommandCounts) Snapshot() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

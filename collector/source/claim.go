package source

// Claim is what a node says of its slots: ranges, and those on their way, in the
// words of CLUSTER NODES. nil: unknown, or the node is in no Cluster.
type Claim []string

// OwnRange is slotRange without the slots that are on their way to the node.
func OwnRange(field string) (first, last int) {
	if field[0] == '[' {
		return 0, -1
	}
	return slotRange(field)
}

// size is the number of slots.
func (c Claim) size() int {
	slots := 0
	for _, field := range c {
		first, last := OwnRange(field)
		slots += last - first + 1
	}
	return slots
}

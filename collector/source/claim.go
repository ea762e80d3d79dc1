// Slots move between the nodes of a Cluster while they are swept. What a sweep of
// a node finds belongs to the slots that the node had all the time, its claim; and
// findings are added up only where their claims fit together: each slot once.

package source

import (
	"errors"
	"slices"
	"strings"
)

// Claim is what a node of a Cluster says of its slots.
type Claim struct {
	fields  []string // ranges, and slots on their way, in the words of CLUSTER NODES
	replica bool     // the slots are its master's; it does not know which are on their way
}

// ErrSlotsMoved is the failure of a sweep that cannot be added to the others.
var ErrSlotsMoved = &Failure{Reason: ReasonCluster, Err: errors.New("slots move between the nodes: the figures are those from before"), Hint: hintSlotsMoved}

// ClaimOf is the claim of the node that answered CLUSTER NODES.
func ClaimOf(nodes string) *Claim {
	fields, replica := ownFields(nodes)
	return &Claim{fields, replica}
}

// Equal says whether nothing came or went between two claims of a node; an unknown
// one equals none.
func (c *Claim) Equal(other *Claim) bool {
	return c != nil && other != nil && slices.Equal(c.fields, other.fields)
}

// Fit says whether no slot is claimed twice, and all of as many as there are.
func Fit(claims []*Claim, slots int) bool {
	var claimed [HashSlots]bool
	for _, c := range claims {
		for _, field := range c.fields {
			first, last := ownRange(field)
			for slot := first; slot <= last; slot++ {
				if claimed[slot] {
					return false
				}
				claimed[slot] = true
				slots--
			}
		}
	}
	return slots <= 0
}

// Settled says whether both nodes of each slot that is on its way know of it. If one
// of them was swept before it began, the other may have met the same keys. What one
// node alone says for long is left from a move that was broken off.
func Settled(claims []*Claim) bool {
	open := map[string]int{}
	for _, c := range claims {
		if c.replica {
			return true // nobody knows
		}
		for _, field := range c.fields {
			if slot, way, moving := strings.Cut(field, "-"); moving && strings.HasPrefix(slot, "[") {
				switch {
				case strings.HasPrefix(way, "<-"):
					open[slot]--
				case strings.HasPrefix(way, ">-"):
					open[slot]++
				}
			}
		}
	}
	for _, sides := range open {
		if sides != 0 {
			return false
		}
	}
	return true
}

// sizeOf is the number of slots that a node owns.
func sizeOf(fields []string) int {
	slots := 0
	for _, field := range fields {
		first, last := ownRange(field)
		slots += last - first + 1
	}
	return slots
}

// ownRange is slotRange without the slots that are on their way to the node.
func ownRange(field string) (first, last int) {
	if strings.HasPrefix(field, "[") {
		return 0, -1
	}
	return slotRange(field)
}

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
var ErrSlotsMoved = &Failure{Reason: ReasonCluster, Err: errors.New("slots move between the nodes: the figures are those from before")}

// ClaimOf is the claim of the node that answered CLUSTER NODES.
func ClaimOf(nodes string) *Claim {
	fields, replica := ownFields(nodes)
	return &Claim{fields, replica}
}

// Equal says whether nothing came or went between two claims of a node.
func (c *Claim) Equal(other *Claim) bool { return slices.Equal(c.fields, other.fields) }

// Fit says whether no slot is claimed twice, and all of as many as there are; and
// where a slot is on its way, whether both of its nodes knew.
func Fit(claims []*Claim, slots int) bool {
	var claimed [HashSlots]bool
	open, replicas := map[string]int{}, false
	for _, c := range claims {
		replicas = replicas || c.replica
		for _, field := range c.fields {
			if slot, way, moving := strings.Cut(field, "-"); moving && field[0] == '[' {
				open[slot] += map[byte]int{'<': -1, '>': 1}[way[0]]
			}
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
	for _, sides := range open {
		if sides != 0 && !replicas {
			return false
		}
	}
	return slots <= 0
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
	if field[0] == '[' {
		return 0, -1
	}
	return slotRange(field)
}

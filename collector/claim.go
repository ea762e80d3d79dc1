// Slots move between the nodes of a Cluster while they are swept. What a sweep of
// a node found belongs to the slots that the node had all the time, its claim; and
// tallies are added up only where their claims fit together: each slot once.

package collector

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// claim is what a node says of its slots: ranges, and those on their way, in the
// words of CLUSTER NODES. nil: unknown, or the node is in no Cluster.
type claim []string

var errSlotsMoved = &Failure{Reason: ReasonCluster, Err: errors.New("slots move between the nodes: the figures are those from before")}

// claimSlots asks the node of a Cluster for its slots; unknown where that is refused.
func (s *session) claimSlots(ctx context.Context) (claim, error) {
	if !s.inCluster {
		return nil, nil
	}
	nodes, err := s.conn.clusterNodes(ctx)
	switch {
	case denies(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return ownFields(nodes), nil
}

// keepClaim fails a sweep in which slots came to the node or left it: it may have
// met their keys or not.
func (s *session) keepClaim(ctx context.Context, before claim) error {
	after, err := s.claimSlots(ctx)
	if err == nil && before != nil && after != nil && !slices.Equal(before, after) {
		return errSlotsMoved
	}
	return err
}

// fit says whether no slot is claimed twice, and all of as many as there were;
// and where a slot is on its way, whether both of its nodes knew. Replicas never do.
func fit(results []*swept, slots int) bool {
	var claimed [slotNumber]bool
	open, replicas := map[string]int{}, false
	for _, result := range results {
		replicas = replicas || result.info.Role() == "replica"
		for _, field := range result.claim {
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

// ownRange is slotRange without the slots that are on their way to the node.
func ownRange(field string) (first, last int) {
	if field[0] == '[' {
		return 0, -1
	}
	return slotRange(field)
}

// size is the number of slots.
func (c claim) size() int {
	slots := 0
	for _, field := range c {
		first, last := ownRange(field)
		slots += last - first + 1
	}
	return slots
}

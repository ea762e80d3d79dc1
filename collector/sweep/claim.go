// Slots move between the nodes of a Cluster while they are swept. What a sweep of
// a node found belongs to the slots that the node had all the time, its claim; and
// tallies are added up only where their claims fit together: each slot once.

package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"

	"keyhealth/collector/cursor"
	"keyhealth/collector/source"
)

// ErrSlotsMoved is why figures stay as they are.
var ErrSlotsMoved = &source.Failure{Reason: source.ReasonCluster, Err: errors.New("slots move between the nodes: the figures are those from before")}

// claimSlots asks the node of a Cluster for its slots; unknown where that is refused.
func (s *session) claimSlots(ctx context.Context) (source.Claim, error) {
	if !s.inCluster {
		return nil, nil
	}
	nodes, err := s.conn.ClusterNodes(ctx)
	switch {
	case source.Denies(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return source.ClaimOf(nodes), nil
}

// keepClaim fails a sweep in which slots came to the node or left it: it may have
// met their keys or not.
func (s *session) keepClaim(ctx context.Context, before source.Claim) error {
	after, err := s.claimSlots(ctx)
	if err == nil && before != nil && after != nil && !slices.Equal(before, after) {
		return ErrSlotsMoved
	}
	return err
}

// Fit says whether no slot is claimed twice, and all of as many as there were;
// and where a slot is on its way, whether both of its nodes knew. Replicas never do.
func Fit(results []*Result, slots int) bool {
	var claimed [cursor.SlotNumber]bool
	open, replicas := map[string]int{}, false
	for _, result := range results {
		replicas = replicas || result.info.Role() == "replica"
		for _, field := range result.Claim {
			if slot, way, moving := strings.Cut(field, "-"); moving && field[0] == '[' {
				open[slot] += map[byte]int{'<': -1, '>': 1}[way[0]]
			}
			first, last := source.OwnRange(field)
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

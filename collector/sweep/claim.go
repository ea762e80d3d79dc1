package sweep

import (
	"context"
	"fmt"

	"keyhealth/collector/source"
)

// claimSlots asks the node of a Cluster for its slots; nil where it is in none, or
// does not tell.
func (s *session) claimSlots(ctx context.Context) (*source.Claim, error) {
	if !s.inCluster {
		return nil, nil
	}
	nodes, err := s.clusterNodes(ctx)
	switch {
	case source.Denies(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("CLUSTER NODES: %w", err)
	}
	return source.ClaimOf(nodes), nil
}

// clusterNodes asks the node for CLUSTER NODES. What it refuses is not asked again.
func (s *session) clusterNodes(ctx context.Context) (string, error) {
	if s.silent != nil {
		return "", s.silent
	}
	nodes, err := s.conn.ClusterNodes(ctx)
	if source.Denies(err) {
		s.silent = err
	}
	return nodes, err
}

// keepClaim fails a sweep in which slots came to the node or left it: it may have
// met their keys or not.
func (s *session) keepClaim(ctx context.Context, before *source.Claim) error {
	after, err := s.claimSlots(ctx)
	if err == nil && before != nil && after != nil && !before.Equal(after) {
		return source.ErrSlotsMoved
	}
	return err
}

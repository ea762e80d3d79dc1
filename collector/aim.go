// Which line a node has is asked, not taken from its version: nodes of a Cluster
// keep one dictionary a database or one a slot, and random cursors miss most of
// what the latter hold.

package collector

import (
	"context"
	"fmt"
	"time"
)

const (
	slotBatch   = 1000 // slots whose keys are counted in one write
	probedSlots = 3
)

// findLine asks a node of a Cluster for the line of the selected database. Where
// the node does not tell, it is taken for one with one dictionary.
func (s *session) findLine(ctx context.Context) (line, error) {
	if s.info.Mode() != "cluster" {
		return line{}, nil
	}
	counts, err := s.countSlots(ctx)
	if s.capabilities.note("slot_counts", err) != nil {
		if denies(err) {
			return line{}, nil
		}
		return line{}, err
	}
	perSlot, err := s.keepsSlots(ctx, counts)
	if err != nil || !perSlot {
		return line{}, err
	}
	return line{slots: counts}, nil
}

// countSlots asks for the number of keys in each of the node's slots. The first
// write has one slot, so that a refusal is one.
func (s *session) countSlots(ctx context.Context) (*slotCounts, error) {
	nodes, err := s.conn.clusterNodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("CLUSTER NODES: %w", err)
	}
	slots := ownSlots(nodes)
	counts := make([]int64, 0, len(slots))
	for len(counts) < len(slots) {
		batch := min(slotBatch, len(slots)-len(counts))
		if len(counts) == 0 {
			batch = 1
		}
		began := time.Now()
		answers, err := s.conn.slotCounts(ctx, slots[len(counts):len(counts)+batch])
		if err != nil {
			return nil, fmt.Errorf("CLUSTER COUNTKEYSINSLOT: %w", err)
		}
		counts = append(counts, answers...)
		if err := s.rest(ctx, s.pacer.rest(time.Since(began), 1)); err != nil {
			return nil, err
		}
	}
	return newSlotCounts(slots, counts), nil
}

// keepsSlots says whether the node keeps one dictionary a slot: SCAN from the
// beginning of a slot shows keys of that slot only. Where few slots have keys,
// keys of anywhere would look the same; then SCAN from an empty slot must also go
// on to the next slot with keys.
func (s *session) keepsSlots(ctx context.Context, counts *slotCounts) (bool, error) {
	slots := counts.largest(probedSlots + 1)
	gap, few := counts.gap(), len(slots) <= probedSlots
	slots = slots[:min(probedSlots, len(slots))]
	var cursors []uint64
	for _, slot := range slots {
		cursors = append(cursors, uint64(slot))
	}
	if few {
		cursors = append(cursors, uint64(gap))
	}
	pages, err := s.conn.scan(ctx, cursors, 1)
	if s.capabilities.note("scan", err) != nil {
		return false, fmt.Errorf("SCAN: %w", err)
	}
	shown := false
	for i, slot := range slots {
		for _, name := range pages[i].names {
			shown = true
			if slotOf(name) != slot {
				return false, nil
			}
		}
	}
	if few {
		beyond := pages[len(slots)]
		shown = shown && counts.goesOn(gap, beyond.next, len(beyond.names) == 0)
	}
	return shown, nil
}

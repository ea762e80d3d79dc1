// Which line a node has is asked, not taken from its version: nodes of a Cluster
// keep one dictionary a database or one a slot, and random cursors miss most of
// what the latter hold.

package sweep

import (
	"context"
	"fmt"
	"time"

	"keyhealth/collector/cursor"
	"keyhealth/collector/source"
)

const (
	slotBatch   = 1000 // slots whose keys are counted in one write
	probedSlots = 3
)

// findLine asks a node of a Cluster for the line of the selected database. Where
// the node does not tell, it is taken for one with one dictionary.
func (s *session) findLine(ctx context.Context) (cursor.Line, error) {
	if s.info.Mode() != "cluster" {
		return cursor.Line{}, nil
	}
	counts, err := s.countSlots(ctx)
	if s.capabilities.Note("slot_counts", err) != nil {
		if source.Denies(err) {
			return cursor.Line{}, nil
		}
		return cursor.Line{}, err
	}
	perSlot, err := s.keepsSlots(ctx, counts)
	if err != nil || !perSlot {
		return cursor.Line{}, err
	}
	return cursor.Line{Slots: counts}, nil
}

// countSlots asks for the number of keys in each of the node's slots. The first
// write has one slot, so that a refusal is one.
func (s *session) countSlots(ctx context.Context) (*cursor.SlotCounts, error) {
	nodes, err := s.clusterNodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("CLUSTER NODES: %w", err)
	}
	slots := source.OwnSlots(nodes)
	counts := make([]int64, 0, len(slots))
	for len(counts) < len(slots) {
		batch := min(slotBatch, len(slots)-len(counts))
		if len(counts) == 0 {
			batch = 1
		}
		began := time.Now()
		answers, err := s.conn.SlotCounts(ctx, slots[len(counts):len(counts)+batch])
		if err != nil {
			return nil, fmt.Errorf("CLUSTER COUNTKEYSINSLOT: %w", err)
		}
		counts = append(counts, answers...)
		if err := s.rest(ctx, s.pacer.rest(time.Since(began), 1)); err != nil {
			return nil, err
		}
	}
	return cursor.NewSlotCounts(slots, counts), nil
}

// keepsSlots says whether the node keeps one dictionary a slot: SCAN from the
// beginning of a slot shows keys of that slot only. Where few slots have keys,
// keys of anywhere would look the same; then SCAN from an empty slot must also go
// on to the next slot with keys.
func (s *session) keepsSlots(ctx context.Context, counts *cursor.SlotCounts) (bool, error) {
	slots := counts.Largest(probedSlots + 1)
	gap, few := counts.Gap(), len(slots) <= probedSlots
	slots = slots[:min(probedSlots, len(slots))]
	var cursors []uint64
	for _, slot := range slots {
		cursors = append(cursors, uint64(slot))
	}
	if few {
		cursors = append(cursors, uint64(gap))
	}
	pages, err := s.conn.Scan(ctx, cursors, 1)
	if s.capabilities.Note("scan", err) != nil {
		return false, fmt.Errorf("SCAN: %w", err)
	}
	shown := false
	for i, slot := range slots {
		for _, name := range pages[i].Names {
			shown = true
			if source.SlotOf(name) != slot {
				return false, nil
			}
		}
	}
	if few {
		beyond := pages[len(slots)]
		shown = shown && counts.GoesOn(gap, beyond.Next, len(beyond.Names) == 0)
	}
	return shown, nil
}

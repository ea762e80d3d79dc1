package collector

import (
	"testing"

	"keyhealth/collector/source"
	"keyhealth/collector/sweep"
)

// TestOpenSlot: a slot that one node alone says to be on its way makes the sum
// doubtful until every node was swept again and says what it said.
func TestOpenSlot(t *testing.T) {
	w := &Watcher{shards: map[string]lastShard{}, known: 2, slots: source.HashSlots}
	swept := func(shard, slots string, round uint64) {
		claim := source.ClaimOf("m 127.0.0.1:1@2 myself,master - 0 0 1 connected " + slots)
		w.shards[shard] = w.shards[shard].next(sweep.Visit{Result: &sweep.Result{Claim: claim}}, round)
	}
	for i, step := range []struct {
		name     string
		one, two string // empty: its sweep failed
		whole    bool
	}{
		{"still", "0-8191", "8192-16383", true},
		{"one was swept before it began", "0-8191", "8192-16383 [5-<-a]", false},
		{"one was not swept since", "", "8192-16383 [5-<-a]", false},
		{"both were", "0-8191", "8192-16383 [5-<-a]", true},
		{"it moves", "0-8191 [5->-b]", "8192-16383 [5-<-a]", true},
		{"it has moved", "0-4 6-8191", "5 8192-16383", true},
		{"another moves while two is not swept", "0-4 7-8191", "", false},
		{"and two again", "0-4 7-8191", "5-6 8192-16383", true},
	} {
		if step.one != "" {
			swept("a", step.one, uint64(i+1))
		}
		if step.two != "" {
			swept("b", step.two, uint64(i+1))
		}
		if got := w.whole(); got != step.whole {
			t.Errorf("%s: whole is %v", step.name, got)
		}
	}
}

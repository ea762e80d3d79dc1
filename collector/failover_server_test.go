// A primary of a Cluster dies and its replica takes over, on real servers.

package collector

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"keyhealth/internal/redistest"
)

// TestFailover: while a primary is killed under load and its replica takes over no
// snapshot is doubled or halved; the second sweep that begins after the takeover
// is right, on the new primary.
func TestFailover(t *testing.T) {
	redistest.Run(t, "failover", func(t *testing.T, binary string) {
		keys := redistest.FleetKeys(t)
		c := redistest.StartClusterBinary(t, binary, 3)
		c.AddReplicas(t)
		c.Fill(t, keys, redistest.Limit)
		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		defer load.Wait()
		defer cancel()
		client := c.Client(t)
		load.Go(func() { redistest.Overwrite(ctx, client, keys, redistest.Limit) })
		for victim := 1; victim <= 2; victim++ {
			replicas := victim == 2
			t.Run(fmt.Sprint("replicas=", replicas), func(t *testing.T) {
				target := clusterTarget(t, c.Nodes[0])
				target.Seeds = []string{c.Nodes[victim].Addr()}
				target.Replicas = replicas
				f := failover{keys: keys, victim: c.Nodes[victim], heir: c.Replicas[victim], w: running(t, target)}
				f.watch(t)
			})
		}
	})
}

// failover is one that is watched.
type failover struct {
	keys         int
	victim, heir *redistest.Server
	w            *Watcher

	over  bool   // the heir is a primary
	swept uint64 // sweeps that had ended by then
	right uint64 // the first sweep after it that was right
}

func (f *failover) watch(t *testing.T) {
	t.Helper()
	eventually(t, f.w, "swept", sweptWell(0))
	heir := f.heir.Client(t)
	f.victim.Kill()
	eventually(t, f.w, "two sweeps after the takeover", func(s *Snapshot) bool {
		if what := exact(s, f.keys); what != "" {
			t.Fatalf("sweep %d: %s", s.Health.Sweeps, what)
		}
		if !f.over {
			f.over = redistest.IsPrimary(t.Context(), heir)
			f.swept = f.w.Snapshot().Health.Sweeps
			return false
		}
		f.judge(t, s)
		return s.Health.Sweeps >= f.swept+3
	})
	t.Logf("the takeover was seen after sweep %d, sweep %d was the first right one", f.swept, f.right)
	f.victim.Restart(t) // empty, and for a while it takes itself for a primary
	last := f.w.Snapshot().Health.Sweeps
	eventually(t, f.w, "joined again", func(s *Snapshot) bool {
		if what := exact(s, f.keys); what != "" {
			t.Fatalf("after the restart, sweep %d: %s", s.Health.Sweeps, what)
		}
		return s.Health.Swept && s.Health.Sweeps > last+1 && slices.ContainsFunc(s.Nodes, func(n Node) bool {
			return n.Name == f.victim.Addr() && n.Up && n.Info.Role() == "replica"
		})
	})
}

// judge looks at a snapshot after the takeover. One sweep may have been under way
// then; of those that begin later the second must be right.
func (f *failover) judge(t *testing.T, s *Snapshot) {
	t.Helper()
	right := s.Health.Swept && s.Health.Coverage == 1 && sweptOn(s, f.heir.Addr())
	if right && f.right == 0 {
		f.right = s.Health.Sweeps
	}
	if !right && s.Health.Sweeps >= f.swept+3 {
		t.Fatalf("sweep %d after the takeover: %+v, nodes %+v", s.Health.Sweeps-f.swept, s.Health, s.Nodes)
	}
}

// A primary of a Cluster dies and its replica takes over, seen in the text of
// /metrics: no scrape shows a part of the keys as all of them, or a key twice.

package exportertest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// fleet is a Cluster with an exporter of it whose every scrape is judged.
type fleet struct {
	*Exporter
	t       *testing.T
	cluster *redistest.Cluster
	keys    float64
	victim  string // the node that is down; empty: none is
	scrapes int
	kept    int // scrapes that showed the last figures while the node was down
}

func startFleet(t *testing.T, binary string) *fleet {
	t.Helper()
	keys := redistest.FleetKeys(t)
	// The takeover waits until the test permits it.
	c := redistest.StartClusterBinary(t, binary, 3, "--cluster-replica-no-failover", "yes", "--cluster-replica-validity-factor", "0")
	c.AddReplicas(t)
	c.Fill(t, keys, redistest.Limit)
	e := Start(t, Settings{
		"REDIS_URL": "redis://" + c.Nodes[0].Addr() + "," + c.Nodes[2].Addr(), "GROUPS": "limit=limit:*@1h",
		"SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1", "REDIS_TIMEOUT": "2s", "STALE_AFTER": "10s",
	})
	return &fleet{Exporter: e, t: t, cluster: c, keys: float64(keys)}
}

// wait is Exporter.Wait, with each scrape judged.
func (f *fleet) wait(wanted string, ok func(Metrics) bool) Metrics {
	f.t.Helper()
	return f.Wait(f.t, wanted, func(m Metrics) bool {
		f.judge(m)
		return ok(m)
	})
}

// judge fails the test where a scrape tells anything but the truth, or nothing.
func (f *fleet) judge(m Metrics) {
	f.t.Helper()
	f.scrapes++
	shown := 0
	for series, want := range map[string]float64{
		"keyhealth_keys": f.keys, "keyhealth_keys_without_ttl": f.keys / 10, "keyhealth_zombie_keys": f.keys / 10,
		"keyhealth_group_keys": f.keys, "keyhealth_group_keys_without_ttl": f.keys / 10, "keyhealth_group_zombie_keys": f.keys / 10,
	} {
		got := m.Values(series)
		shown += len(got)
		if len(got) > 1 || len(got) == 1 && got[0] != want {
			f.t.Fatalf("%s is %v, want %v or nothing", series, got, want)
		}
	}
	if shown != 0 && shown != 6 {
		f.t.Fatalf("%d of 6 figures are shown", shown)
	}
	if f.victim == "" || !slices.Equal(m.Values("keyhealth_node_up", "node="+f.victim), []float64{0}) {
		return
	}
	// The coverage is that of the last sweep that met keys, and after a while all
	// shards refuse: a Cluster that lacks one is down.
	success, coverage := m.Value(f.t, "keyhealth_sweep_success"), m.Value(f.t, "keyhealth_sweep_coverage_ratio")
	if met := slices.Contains(m.Values("keyhealth_node_swept"), 1); success != 0 || met && coverage >= 1 {
		f.t.Fatalf("while a shard is unreachable success is %v and the coverage %v", success, coverage)
	}
	if shown > 0 {
		f.kept++
		return
	}
	last, staleAfter := m.Value(f.t, "keyhealth_sweep_last_success_timestamp_seconds"), m.Value(f.t, "keyhealth_stale_after_seconds")
	// A clock is read before the other: the two are a moment apart.
	if age := float64(time.Now().UnixMilli())/1e3 - last; age < staleAfter-0.5 {
		f.t.Fatalf("figures were withdrawn after %.1f s, before STALE_AFTER", age)
	}
}

// TestScrapesOfAFailover: a primary is killed under load and its shard cannot be
// reached until its figures are stale; then its replica takes over, and the second
// sweep that begins after that is right.
func TestScrapesOfAFailover(t *testing.T) {
	redistest.Run(t, "failover", func(t *testing.T, binary string) {
		f := startFleet(t, binary)
		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		defer load.Wait()
		defer cancel()
		client := f.cluster.Client(t)
		load.Go(func() { redistest.Overwrite(ctx, client, int(f.keys), redistest.Limit) })
		f.wait("the first figures", func(m Metrics) bool { return m.Is("keyhealth_sweep_success", "==", 1) && m.Has("keyhealth_keys") })

		heir := f.cluster.Replicas[1].Client(t)
		f.victim = f.cluster.Nodes[1].Addr()
		f.cluster.Nodes[1].Kill()
		f.wait("the node down", func(m Metrics) bool {
			return slices.Equal(m.Values("keyhealth_node_up", "node="+f.victim), []float64{0})
		})
		f.wait("stale figures withdrawn", func(m Metrics) bool { return !m.Has("keyhealth_keys") })
		if f.kept == 0 {
			t.Error("the last figures of the shard were not kept")
		}
		f.permit(heir)
		f.takeOver(1)
		heir = f.cluster.Replicas[2].Client(t) // another shard, whose replica takes over at once
		f.permit(heir)
		f.victim = f.cluster.Nodes[2].Addr()
		f.cluster.Nodes[2].Kill()
		f.takeOver(2)
		// Without one of its shards the whole Cluster refuses after a while: that is
		// another state, and the takeover may be one more.
		lines := strings.Count(f.Output(), "Sweep failed")
		t.Logf("%d scrapes, %d of them with the last figures of the shard that was down; %d error lines", f.scrapes, f.kept, lines)
		if lines < 2 || lines > 8 {
			t.Errorf("%d lines say that sweeps failed, want one for each change of state", lines)
		}
	})
}

// permit lets a replica take over.
func (f *fleet) permit(heir *redis.Client) {
	f.t.Helper()
	if err := heir.ConfigSet(f.t.Context(), "cluster-replica-no-failover", "no").Err(); err != nil {
		f.t.Fatal(err)
	}
}

// takeOver waits for the takeover of a shard, and counts sweeps from it on.
func (f *fleet) takeOver(shard int) {
	f.t.Helper()
	replica := f.cluster.Replicas[shard]
	heir := replica.Client(f.t)
	f.wait("the takeover", func(Metrics) bool { return redistest.IsPrimary(f.t.Context(), heir) })
	swept := f.Scrape(f.t).Value(f.t, "keyhealth_sweeps_total")
	// One sweep may be under way; of those that begin later the second is the
	// third from here.
	m := f.wait("two sweeps after the takeover", func(m Metrics) bool { return m.Is("keyhealth_sweeps_total", ">=", swept+3) })
	if !m.Is("keyhealth_sweep_success", "==", 1) || !m.Is("keyhealth_sweep_coverage_ratio", "==", 1) || !m.Has("keyhealth_keys") {
		f.t.Errorf("success %v, coverage %v, keys %v", m.Values("keyhealth_sweep_success"), m.Values("keyhealth_sweep_coverage_ratio"), m.Values("keyhealth_keys"))
	}
	if m.Value(f.t, "keyhealth_node_swept", "node="+replica.Addr()) != 1 {
		f.t.Error("the new primary was not swept")
	}
}

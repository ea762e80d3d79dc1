// Everything that can happen to a Cluster happens, at random, while it is
// watched: nothing crashes or grows, scrapes are answered at once, and every
// count that is published was true of some moment of its sweep.

package collector

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

// chaosKeys are there from the start, and come again after they were lost.
const chaosKeys = 30_000

// chaosDefault is how long it lasts; TEST_KEYHEALTH_CHAOS says otherwise.
const chaosDefault = 30 * time.Second

func chaosTime(t *testing.T) time.Duration {
	text := os.Getenv("TEST_KEYHEALTH_CHAOS")
	if text == "" {
		return chaosDefault
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TEST_KEYHEALTH_CHAOS: %v", err)
	}
	return d
}

// chaos is a Cluster to which things happen.
type chaos struct {
	t       *testing.T
	cluster *redistest.Cluster
	servers []*redistest.Server
	clients []*redis.Client // impatient ones
	whole   *redis.ClusterClient
	rng     *rand.Rand
	down    map[int]mending // servers that were killed or frozen
	done    map[string]int
	truth   *truth
	pending []*Snapshot // of sweeps that are still to be judged
	judged  int
	still   int // of those, sweeps in which nobody changed a key
}

func TestChaos(t *testing.T) {
	c := &chaos{
		t: t, cluster: redistest.StartCluster(t, 3), rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)),
		down: map[int]mending{}, done: map[string]int{},
	}
	c.cluster.AddReplicas(t)
	c.servers = slices.Concat(c.cluster.Nodes, c.cluster.Replicas)
	for _, server := range c.servers {
		c.clients = append(c.clients, server.Client(t, func(o *redis.Options) {
			o.DialTimeout, o.ReadTimeout, o.MaxRetries = 300*time.Millisecond, 300*time.Millisecond, -1
		}))
	}
	c.truth = &truth{counts: make([][]count, len(c.servers))}
	c.cluster.Fill(t, chaosKeys, redistest.Limit)
	target := clusterTarget(t, c.servers[0])
	for _, server := range c.servers[1:] {
		target.Seeds = append(target.Seeds, server.Addr())
	}
	target.Replicas, target.Sweep.ScanCount = true, 1000
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	c.whole = c.cluster.Client(t) // one for all: each keeps buffers, which would count as growth
	others.Go(func() { c.write(ctx, c.whole) })
	for node, client := range c.clients {
		others.Go(func() { c.truth.countNode(ctx, node, client) })
	}
	w := running(t, target)
	eventually(t, w, "swept", sweptWell(0))
	before := usage()
	c.run(ctx, w)
	c.mend()
	eventually(t, w, "well again", sweptWell(w.Snapshot().Health.Sweeps+1))
	after := usage()
	t.Logf("%v; goroutines %d before and %d after, heap %d and %d KiB", c.done, before.goroutines, after.goroutines, before.heap>>10, after.heap>>10)
	if after.goroutines > before.goroutines+10 || after.heap > 2*before.heap+(8<<20) {
		t.Error("something grows")
	}
}

type use struct {
	goroutines int
	heap       uint64
}

func usage() use {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return use{runtime.NumGoroutine(), m.HeapAlloc}
}

// run makes things happen, scrapes ten times a second, and judges each sweep.
func (c *chaos) run(ctx context.Context, w *Watcher) {
	scraper := newScraper(c.t, New(w))
	defer scraper.close()
	sweeps, began := w.Snapshot().Health.Sweeps, time.Now()
	next := began
	for end := began.Add(chaosTime(c.t)); time.Now().Before(end); {
		if time.Now().After(next) {
			c.strike(ctx)
			next = time.Now().Add(time.Second + time.Duration(c.rng.Int64N(int64(3*time.Second))))
		}
		scraper.scrape()
		if s := w.Snapshot(); s.Health.Sweeps > sweeps {
			sweeps = s.Health.Sweeps
			if s.Health.Swept {
				c.pending = append(c.pending, s)
			}
		}
		c.judge()
		_ = sleep(ctx, 100*time.Millisecond)
	}
	c.t.Logf("%d sweeps, %d of them judged, %d of those while nobody changed a key", sweeps, c.judged, c.still)
	scraper.judge()
	if c.judged == 0 {
		c.t.Error("no sweep could be judged")
	}
}

// judge compares the numbers of good sweeps with what the nodes had in their time.
func (c *chaos) judge() {
	for len(c.pending) > 0 {
		s := c.pending[0]
		// A sweep's duration is measured a moment before its end is.
		from := s.Health.LastSuccess.Add(-s.Health.Duration - time.Second)
		counted, met, ready, known := c.truth.between(from, s.Health.LastSuccess)
		if !ready {
			return
		}
		c.pending = c.pending[1:]
		c.truth.forget(from)
		if !known {
			continue
		}
		c.judged++
		if met.low == met.high && met.high > 0 {
			c.still++
		}
		if len(s.Databases) != 1 || !counted.hold(float64(s.Databases[0].Keys)) || !met.hold(float64(s.Health.Examined)) {
			c.t.Errorf("sweep %d counted %+v and met %d keys; there were %+v and it could meet %+v", s.Health.Sweeps, s.Databases, s.Health.Examined, counted, met)
		}
	}
}

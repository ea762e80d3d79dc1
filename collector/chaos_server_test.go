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
	rng     *rand.Rand
	down    map[int]mending // servers that were killed or frozen
	done    map[string]int

	mu     sync.Mutex
	counts []count
}

// count is how many keys the primaries had at a time.
type count struct {
	at    time.Time
	keys  map[string]int64 // by the node; a node that did not answer is missing
	known bool             // all of them did
}

func TestChaos(t *testing.T) {
	c := &chaos{t: t, cluster: redistest.StartCluster(t, 3), rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)), down: map[int]mending{}, done: map[string]int{}}
	c.cluster.AddReplicas(t)
	c.servers = slices.Concat(c.cluster.Nodes, c.cluster.Replicas)
	for _, server := range c.servers {
		c.clients = append(c.clients, server.Client(t, func(o *redis.Options) {
			o.DialTimeout, o.ReadTimeout, o.MaxRetries = 300*time.Millisecond, 300*time.Millisecond, -1
		}))
	}
	c.cluster.Fill(t, 30_000, redistest.Limit)
	target := clusterTarget(t, c.servers[0])
	for _, server := range c.servers[1:] {
		target.Seeds = append(target.Seeds, server.Addr())
	}
	target.Replicas = true
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	others.Go(func() { c.write(ctx) })
	others.Go(func() { c.countAlways(ctx) })
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
	collector := New(w)
	var scrapes []time.Duration
	sweeps, judged, began := w.Snapshot().Health.Sweeps, 0, time.Now()
	next := began
	for end := began.Add(chaosTime(c.t)); time.Now().Before(end); {
		if time.Now().After(next) {
			c.strike(ctx)
			next = time.Now().Add(time.Second + time.Duration(c.rng.Int64N(int64(3*time.Second))))
		}
		start := time.Now()
		gather(c.t, collector)
		scrapes = append(scrapes, time.Since(start))
		if s := w.Snapshot(); s.Health.Sweeps > sweeps {
			sweeps = s.Health.Sweeps
			if c.judge(s) {
				judged++
			}
		}
		_ = sleep(ctx, 100*time.Millisecond)
	}
	slices.Sort(scrapes)
	middle, late, slowest := scrapes[len(scrapes)/2], scrapes[len(scrapes)*98/100], scrapes[len(scrapes)-1]
	c.t.Logf("%d sweeps, %d of them judged; %d scrapes, median %v, 98th percentile %v, slowest %v", sweeps, judged, len(scrapes), middle, late, slowest)
	// A machine that is busy holds up a few; one that waited for Redis would take
	// its timeout of 2 s.
	if late > 10*middle || slowest > time.Second {
		c.t.Errorf("scrapes took up to %v and %v, the median %v", late, slowest, middle)
	}
	if judged == 0 {
		c.t.Error("no sweep could be judged")
	}
}

// judge compares a good sweep's keys with what the primaries had in its time; it
// cannot where one of them did not answer.
func (c *chaos) judge(s *Snapshot) bool {
	if !s.Health.Swept || len(s.Databases) != 1 {
		return false
	}
	from := s.Health.LastSuccess.Add(-s.Health.Duration - time.Second) // a frozen server holds up the counting, too
	fewest, most := map[string]int64{}, map[string]int64{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, count := range c.counts {
		if count.at.Before(from) {
			continue
		}
		if !count.known {
			return false
		}
		for node, keys := range count.keys {
			if known, ok := fewest[node]; !ok || keys < known {
				fewest[node] = keys
			}
			most[node] = max(most[node], keys)
		}
	}
	var low, high int64
	for node := range fewest {
		low, high = low+fewest[node], high+most[node]
	}
	if len(fewest) != 3 { // a failover in between
		return false
	}
	// Between two counts the writer has changed a few keys.
	const unseen = 500
	if keys := s.Databases[0].Keys; keys < low-unseen || keys > high+unseen {
		c.t.Errorf("sweep %d says %d keys, there were %d to %d", s.Health.Sweeps, keys, low, high)
	}
	return true
}

// A sweep of a whole target: every shard is swept at the same time, on the node
// that is fit for it, and every other node is asked for INFO. How one node is
// swept is sweep.go, which nodes there are source.Topology.

package sweep

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
)

// mostAtOnce bounds how many nodes are busy with us at the same time.
const mostAtOnce = 8

// Fleet remembers what the next sweep of a target needs.
type Fleet struct {
	target     spec.Target
	classifier *classify.Classifier
	topology   *source.Topology
	seed       uint64
	avoided    map[string]*avoidance // replicas that failed, by name

	mu       sync.Mutex
	sweepers map[string]*sweeper // by the node's name
	walks    sync.WaitGroup      // full walks, each with its sweeper
	stops    map[string]context.CancelFunc
}

// NewFleet is that of a target; the same seed makes the same random choices.
func NewFleet(target spec.Target, topology *source.Topology, seed uint64) *Fleet {
	return &Fleet{
		target: target, classifier: classify.New(target.Rules, target.Presets), topology: topology, seed: seed,
		avoided: map[string]*avoidance{}, sweepers: map[string]*sweeper{}, stops: map[string]context.CancelFunc{},
	}
}

// Greeting is what a node said at the start of a sweep.
type Greeting struct {
	Node string
	Info source.Info
	Ping time.Duration
}

// Visit is what became of a node in a sweep.
type Visit struct {
	Node   string
	Shard  string
	Slots  int          // of the shard, by who named the nodes
	Info   *source.Info // nil: it did not answer
	Ping   time.Duration
	Swept  bool    // its keys were to be met
	Result *Result // nil where that failed
	Err    error
}

// Sweep visits every node. The error is that of finding them: then there are no
// visits.
func (f *Fleet) Sweep(ctx context.Context, greeted func(Greeting)) ([]Visit, error) {
	shards, err := f.topology.Shards(ctx)
	if err != nil {
		return nil, err
	}
	f.forget(shards)
	visits := f.Visit(ctx, shards, greeted)
	if len(visits) == 1 && errors.Is(visits[0].Err, source.ErrIsCluster) && f.topology.Follow() {
		if shards, err = f.topology.Shards(ctx); err != nil {
			return nil, err
		}
		f.forget(shards)
		visits = f.Visit(ctx, shards, greeted)
	}
	return visits, nil
}

// Visit visits every node of some shards.
func (f *Fleet) Visit(ctx context.Context, shards []source.Shard, greeted func(Greeting)) []Visit {
	visits := make([][]Visit, len(shards))
	busy := make(chan struct{}, mostAtOnce)
	var running sync.WaitGroup
	for i, sh := range shards {
		fit := f.fit(sh)
		f.sweeperOf(sh.Primary) // made in order: the same seed makes the same random choices
		running.Go(func() {
			busy <- struct{}{}
			defer func() { <-busy }()
			visits[i] = f.visitShard(ctx, sh, fit, greeted)
		})
	}
	running.Wait()
	for i, sh := range shards {
		f.judge(sh, visits[i])
	}
	return slices.Concat(visits...)
}

// visitShard sweeps the shard on one of the replicas that are fit, else on its
// primary, and asks the other nodes for INFO.
func (f *Fleet) visitShard(ctx context.Context, sh source.Shard, fit []source.Node, greeted func(Greeting)) []Visit {
	var visits []Visit
	add := func(v Visit) Visit {
		v.Shard, v.Slots = sh.ID, sh.Slots
		visits = append(visits, v)
		return v
	}
	var primary *source.Info
	done := false
	if len(fit) > 0 {
		primary = add(f.ask(ctx, sh.Primary, greeted)).Info
		for _, replica := range fit {
			if done = add(f.sweepNode(ctx, replica, sh, primary, greeted)).Result != nil; done {
				visits[len(visits)-1].Result.Primary = primary
				break
			}
		}
	}
	if !done {
		visits = slices.DeleteFunc(visits, func(v Visit) bool { return v.Node == sh.Primary.Name() })
		done = add(f.sweepNode(ctx, sh.Primary, sh, nil, greeted)).Result != nil
	}
	for _, replica := range f.lastResort(sh, fit, done) {
		if add(f.sweepNode(ctx, replica, sh, primary, greeted)).Result != nil {
			break
		}
	}
	for _, replica := range sh.Replicas {
		if !slices.ContainsFunc(visits, func(v Visit) bool { return v.Node == replica.Name() }) && f.avoided[replica.Name()].passes() {
			add(f.ask(ctx, replica, greeted))
		}
	}
	return visits
}

// ask asks a node for INFO.
func (f *Fleet) ask(ctx context.Context, n source.Node, greeted func(Greeting)) Visit {
	v := Visit{Node: n.Name()}
	c, err := n.Connect(ctx)
	if err != nil {
		v.Err = err
		return v
	}
	defer c.Close()
	v.Ping, _ = c.Ping(ctx)
	info, err := c.Info(ctx)
	if err != nil {
		v.Err = err
		return v
	}
	v.Info = &info
	greeted(Greeting{v.Node, info, v.Ping})
	return v
}

// sweepNode sweeps a node of a shard; primary is what the shard's primary said
// before its replica is swept, nil where it did not answer or is swept itself.
func (f *Fleet) sweepNode(ctx context.Context, n source.Node, sh source.Shard, primary *source.Info, greeted func(Greeting)) Visit {
	v := Visit{Node: n.Name(), Swept: true}
	s := f.sweeperOf(n)
	s.turn.take() // a full walk of the node may be under way
	s.node = n    // the name may stand for another one by now
	s.inCluster, s.isReplica, s.primaryHad = sh.InCluster, n != sh.Primary, 0
	if primary != nil {
		s.primaryHad, _ = primary.Number("master_repl_offset")
	}
	s.turn.pass()
	v.Result, v.Err = s.safely(ctx, func(info source.Info, ping time.Duration) {
		v.Info, v.Ping = &info, ping
		greeted(Greeting{v.Node, info, ping})
	})
	if v.Result != nil {
		v.Info = &v.Result.info
	}
	return v
}

// sweeperOf is the node's sweeper, which remembers what the next sweep needs.
func (f *Fleet) sweeperOf(n source.Node) *sweeper {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sweepers[n.Name()]
	if s == nil {
		s = sweeperWith(f.classifier, f.target, n, f.seed+uint64(len(f.sweepers)))
		f.sweepers[n.Name()] = s
	}
	return s
}

// WalkFully begins the full walks of nodes that have none yet; they end with ctx,
// or with the node.
func (f *Fleet) WalkFully(ctx context.Context) {
	if f.target.Sweep.FullEvery == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range f.sweepers {
		if f.stops[name] != nil {
			continue
		}
		walking, stop := context.WithCancel(ctx)
		f.stops[name] = stop
		f.walks.Go(func() { s.walkFully(walking) })
	}
}

// Wait returns when the full walks have ended, after their context has.
func (f *Fleet) Wait() { f.walks.Wait() }

// forget drops what is known of nodes that are no longer there.
func (f *Fleet) forget(shards []source.Shard) {
	there := map[string]bool{}
	for _, sh := range shards {
		there[sh.Primary.Name()] = true
		for _, replica := range sh.Replicas {
			there[replica.Name()] = true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.sweepers {
		if there[name] {
			continue
		}
		if stop := f.stops[name]; stop != nil {
			stop()
		}
		delete(f.sweepers, name)
		delete(f.stops, name)
	}
	maps.DeleteFunc(f.avoided, func(name string, _ *avoidance) bool { return !there[name] })
}

// Capabilities are those of the target's names and of all nodes: what one of them
// refuses is refused.
func (f *Fleet) Capabilities() []source.Capability {
	merged := map[string]source.Capability{}
	for _, c := range f.topology.Capabilities() {
		merged[c.Name] = c
	}
	for _, s := range f.sweepers {
		for _, c := range s.listed {
			if known, ok := merged[c.Name]; ok {
				c.Permitted = c.Permitted && known.Permitted
				c.Lacking = c.Lacking || known.Lacking
			}
			merged[c.Name] = c
		}
	}
	return slices.SortedFunc(maps.Values(merged), func(a, b source.Capability) int { return cmp.Compare(a.Name, b.Name) })
}

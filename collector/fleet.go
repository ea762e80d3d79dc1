// A sweep of a whole target: every shard is swept at the same time, on the node
// that is fit for it, and every other node is asked for INFO. How one node is
// swept is sweep.go, which nodes there are topology.go.

package collector

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// mostAtOnce bounds how many nodes are busy with us at the same time.
const mostAtOnce = 8

// fleet remembers what the next sweep of a target needs.
type fleet struct {
	target   Target
	topology *topology
	seed     uint64
	avoided  map[string]*avoidance // replicas that failed, by name

	mu       sync.Mutex
	sweepers map[string]*sweeper // by the node's name
	walks    sync.WaitGroup      // full walks, each with its sweeper
	stops    map[string]context.CancelFunc
}

func newFleet(target Target, topology *topology, seed uint64) *fleet {
	return &fleet{
		target: target, topology: topology, seed: seed, avoided: map[string]*avoidance{},
		sweepers: map[string]*sweeper{}, stops: map[string]context.CancelFunc{},
	}
}

// greeting is what a node said at the start of a sweep.
type greeting struct {
	node string
	info Info
	ping time.Duration
}

// visit is what became of a node in a sweep.
type visit struct {
	node   string
	shard  string
	slots  int   // of the shard, by who named the nodes
	info   *Info // nil: it did not answer
	ping   time.Duration
	swept  bool   // its keys were to be met
	result *swept // nil where that failed
	err    error
}

// sweep visits every node. The error is that of finding them: then there are no
// visits.
func (f *fleet) sweep(ctx context.Context, greeted func(greeting)) ([]visit, error) {
	shards, err := f.topology.shards(ctx)
	if err != nil {
		return nil, err
	}
	f.forget(shards)
	visits := f.visit(ctx, shards, greeted)
	if len(visits) == 1 && errors.Is(visits[0].err, errIsCluster) && f.topology.follow() {
		if shards, err = f.topology.shards(ctx); err != nil {
			return nil, err
		}
		f.forget(shards)
		visits = f.visit(ctx, shards, greeted)
	}
	return visits, nil
}

func (f *fleet) visit(ctx context.Context, shards []shard, greeted func(greeting)) []visit {
	visits := make([][]visit, len(shards))
	busy := make(chan struct{}, mostAtOnce)
	var running sync.WaitGroup
	for i, sh := range shards {
		fit := f.fit(sh)
		f.sweeperOf(sh.primary) // made in order: the same seed makes the same random choices
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
func (f *fleet) visitShard(ctx context.Context, sh shard, fit []node, greeted func(greeting)) []visit {
	var visits []visit
	add := func(v visit) visit {
		v.shard, v.slots = sh.id, sh.slots
		visits = append(visits, v)
		return v
	}
	var primary *Info
	done := false
	if len(fit) > 0 {
		primary = add(f.ask(ctx, sh.primary, greeted)).info
		for _, replica := range fit {
			if done = add(f.sweepNode(ctx, replica, sh, greeted)).result != nil; done {
				visits[len(visits)-1].result.primary = primary
				break
			}
		}
	}
	if !done {
		visits = slices.DeleteFunc(visits, func(v visit) bool { return v.node == sh.primary.name() })
		add(f.sweepNode(ctx, sh.primary, sh, greeted))
	}
	for _, replica := range sh.replicas {
		if !slices.ContainsFunc(visits, func(v visit) bool { return v.node == replica.name() }) && f.avoided[replica.name()].passes() {
			add(f.ask(ctx, replica, greeted))
		}
	}
	return visits
}

// ask asks a node for INFO.
func (f *fleet) ask(ctx context.Context, n node, greeted func(greeting)) visit {
	v := visit{node: n.name()}
	c, err := n.connect(ctx)
	if err != nil {
		v.err = err
		return v
	}
	defer c.close()
	v.ping, _ = c.ping(ctx)
	info, err := c.info(ctx)
	if err != nil {
		v.err = err
		return v
	}
	v.info = &info
	greeted(greeting{v.node, info, v.ping})
	return v
}

func (f *fleet) sweepNode(ctx context.Context, n node, sh shard, greeted func(greeting)) visit {
	v := visit{node: n.name(), swept: true}
	s := f.sweeperOf(n)
	s.turn.take() // a full walk of the node may be under way
	s.inCluster, s.isReplica = sh.inCluster, n != sh.primary
	s.turn.pass()
	v.result, v.err = s.safely(ctx, func(info Info, ping time.Duration) {
		v.info, v.ping = &info, ping
		greeted(greeting{v.node, info, ping})
	})
	if v.result != nil {
		v.info = &v.result.info
	}
	return v
}

// sweeperOf is the node's sweeper, which remembers what the next sweep needs.
func (f *fleet) sweeperOf(n node) *sweeper {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sweepers[n.name()]
	if s == nil {
		s = newSweeper(f.target, n, f.seed+uint64(len(f.sweepers)))
		f.sweepers[n.name()] = s
	}
	return s
}

// walkFully begins the full walks of nodes that have none yet; they end with ctx,
// or with the node.
func (f *fleet) walkFully(ctx context.Context) {
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

// forget drops what is known of nodes that are no longer there.
func (f *fleet) forget(shards []shard) {
	there := map[string]bool{}
	for _, sh := range shards {
		there[sh.primary.name()] = true
		for _, replica := range sh.replicas {
			there[replica.name()] = true
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

// capabilities are those of the target's names and of all nodes: what one of them
// refuses is refused.
func (f *fleet) capabilities() []Capability {
	merged := map[string]Capability{}
	for _, c := range f.topology.capabilities.list() {
		merged[c.Name] = c
	}
	for _, s := range f.sweepers {
		for _, c := range s.listed {
			if known, ok := merged[c.Name]; ok {
				c.Permitted = c.Permitted && known.Permitted
			}
			merged[c.Name] = c
		}
	}
	return slices.SortedFunc(maps.Values(merged), func(a, b Capability) int { return cmp.Compare(a.Name, b.Name) })
}

package sweep

import (
	"slices"

	"keyhealth/collector/source"
)

// avoidance is a replica that is left alone: for one sweep after its first
// failure, then for twice as many each time.
type avoidance struct {
	sweeps int // still to pass
	times  int // that it failed in a row
}

// longestAvoidance is the most sweeps that a replica is left alone.
const longestAvoidance = 64

// passes says whether the replica may be dialled; nil never failed.
func (a *avoidance) passes() bool { return a == nil || a.sweeps <= 0 }

// fit are the replicas on which a shard may be swept.
func (f *Fleet) fit(sh source.Shard) []source.Node {
	if !f.target.Replicas {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(sh.Replicas), func(n source.Node) bool { return !f.avoided[n.Name()].passes() })
}

// lastResort are the replicas that are left alone, where nothing else of a shard
// could be swept.
func (f *Fleet) lastResort(sh source.Shard, fit []source.Node, done bool) []source.Node {
	if done || !f.target.Replicas {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(sh.Replicas), func(n source.Node) bool { return slices.Contains(fit, n) })
}

// Avoids says whether a replica is left alone, or was when it was last dialled.
func (f *Fleet) Avoids(name string) bool { return f.avoided[name] != nil }

// judge remembers which replicas failed in a sweep and which are fit again.
func (f *Fleet) judge(sh source.Shard, visits []Visit) {
	for _, replica := range sh.Replicas {
		name := replica.Name()
		at := slices.IndexFunc(visits, func(v Visit) bool { return v.Node == name })
		switch a := f.avoided[name]; {
		case at < 0 && a != nil:
			a.sweeps--
		case at >= 0 && visits[at].Err == nil:
			delete(f.avoided, name)
		case at >= 0:
			if a == nil {
				a = &avoidance{}
				f.avoided[name] = a
			}
			a.sweeps = min(1<<min(a.times, 10), longestAvoidance)
			a.times++
		}
	}
}

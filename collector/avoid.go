package collector

import "slices"

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
func (f *fleet) fit(sh shard) []node {
	if !f.target.Replicas {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(sh.replicas), func(n node) bool { return !f.avoided[n.name()].passes() })
}

// avoids says whether a replica is left alone, or was when it was last dialled.
func (f *fleet) avoids(name string) bool { return f.avoided[name] != nil }

// judge remembers which replicas failed in a sweep and which are fit again.
func (f *fleet) judge(sh shard, visits []visit) {
	for _, replica := range sh.replicas {
		name := replica.name()
		at := slices.IndexFunc(visits, func(v visit) bool { return v.node == name })
		switch a := f.avoided[name]; {
		case at < 0 && a != nil:
			a.sweeps--
		case at >= 0 && visits[at].err == nil:
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

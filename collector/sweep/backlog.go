package sweep

// Backlog watches the share of expired keys that a master has not reclaimed: our
// own SCANs can keep it from doing so. While the share climbs the budget is
// halved.
type Backlog struct {
	shares  []float64 // of the last sweeps, at most three
	Halved  int       // how often
	Changed bool      // by the last sweep
}

// climb is by how much the share must have risen over two sweeps.
const climb = 0.10

// fall is how much lower the share must be to count as falling: it is an estimate.
const fall = 0.02

// mostHalved leaves a thousandth of the budget.
const mostHalved = 10

// note takes the share that a sweep found.
func (b *Backlog) note(share float64) {
	was := b.Halved
	b.shares = append(b.shares, share)
	if len(b.shares) > 3 {
		b.shares = b.shares[1:]
	}
	last := len(b.shares) - 1
	switch {
	case last >= 1 && b.shares[last] < b.shares[last-1]-fall:
		b.Halved = 0
	case last == 2 && b.shares[0] < b.shares[1] && b.shares[1] < b.shares[2] && b.shares[2]-b.shares[0] >= climb:
		b.Halved = min(b.Halved+1, mostHalved)
		b.shares = b.shares[last:]
	}
	b.Changed = was != b.Halved
}

// Budget is what is left of a budget.
func (b *Backlog) Budget(keys int64) int64 {
	if keys == 0 {
		return 0
	}
	return max(1, keys>>b.Halved)
}

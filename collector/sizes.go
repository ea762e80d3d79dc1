package collector

// sizes are what MEMORY USAGE said of a group's keys.
type sizes struct {
	with, without, zombies mean
}

func (s *sizes) add(other sizes) {
	s.with.join(other.with)
	s.without.join(other.without)
	s.zombies.join(other.zombies)
}

// mean is a sum and what it is made of.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) {
	m.sum += x
	m.n++
}

func (m *mean) join(other mean) {
	m.sum += other.sum
	m.n += other.n
}

// of is the mean, or that of the fallback where nothing was measured.
func (m mean) of(fallback mean) float64 {
	if m.n == 0 {
		m = fallback
	}
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}

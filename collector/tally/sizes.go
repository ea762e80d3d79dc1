package tally

// Sizes are what MEMORY USAGE said of a group's keys.
type Sizes struct {
	With, Without, Zombies Mean
}

// Add takes the sizes of more keys along.
func (s *Sizes) Add(other Sizes) {
	s.With.join(other.With)
	s.Without.join(other.Without)
	s.Zombies.join(other.Zombies)
}

// Mean is a sum and what it is made of.
type Mean struct {
	sum float64
	n   int
}

// Add takes one more along.
func (m *Mean) Add(x float64) {
	m.sum += x
	m.n++
}

func (m *Mean) join(other Mean) {
	m.sum += other.sum
	m.n += other.n
}

// Of is the mean, or that of the fallback where nothing was measured.
func (m Mean) Of(fallback Mean) float64 {
	if m.n == 0 {
		m = fallback
	}
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}

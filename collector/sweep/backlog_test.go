package sweep

import "testing"

func TestBacklog(t *testing.T) {
	for name, test := range map[string]struct {
		shares []float64
		halved []int
	}{
		"steady":                {[]float64{0.3, 0.31, 0.3, 0.32, 0.31}, []int{0, 0, 0, 0, 0}},
		"a climb":               {[]float64{0.2, 0.26, 0.31, 0.36, 0.45}, []int{0, 0, 1, 1, 2}},
		"too slow":              {[]float64{0.2, 0.24, 0.29, 0.33, 0.38}, []int{0, 0, 0, 0, 0}},
		"one step":              {[]float64{0.2, 0.6, 0.6}, []int{0, 0, 0}},
		"and a fall":            {[]float64{0.2, 0.3, 0.4, 0.41, 0.37, 0.36}, []int{0, 0, 1, 1, 0, 0}},
		"noise is no fall":      {[]float64{0.2, 0.3, 0.4, 0.39, 0.38}, []int{0, 0, 1, 1, 1}},
		"down and up at once":   {[]float64{0.5, 0.3, 0.36, 0.41}, []int{0, 0, 0, 1}},
		"all there is to climb": {[]float64{0, 0.06, 0.12, 0.18, 0.24}, []int{0, 0, 1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var b Backlog
			for i, share := range test.shares {
				before := b.Halved
				b.note(share)
				if b.Halved != test.halved[i] || b.Changed != (b.Halved != before) {
					t.Fatalf("after %v the budget was halved %d times, want %d; changed: %v", test.shares[:i+1], b.Halved, test.halved[i], b.Changed)
				}
			}
		})
	}
	if b := (&Backlog{Halved: 3}); b.Budget(100_000) != 12_500 || b.Budget(4) != 1 || b.Budget(0) != 0 {
		t.Error("the budget is not halved three times, or every key is no longer every key")
	}
	var b Backlog
	for i := range 100 {
		b.note(float64(i))
	}
	if b.Halved != mostHalved {
		t.Errorf("halved %d times", b.Halved)
	}
}

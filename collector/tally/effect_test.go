package tally

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestTagEffect(t *testing.T) {
	type tagged struct {
		tag     string // "": none
		without bool
	}
	repeat := func(n int, keys ...tagged) []tagged {
		var all []tagged
		for range n {
			all = append(all, keys...)
		}
		return all
	}
	alike, mixed := repeat(5, tagged{"a", true}), append(repeat(2, tagged{"a", true}), repeat(2, tagged{"a", false})...)
	for name, test := range map[string]struct {
		pages [][]tagged
		want  float64
	}{
		"no keys":                          {nil, 1},
		"no tags":                          {[][]tagged{repeat(9, tagged{"", true}), repeat(9, tagged{"", false})}, 1},
		"a key a tag":                      {[][]tagged{{{"a", true}, {"b", false}}, {{"a", true}}}, 1},
		"all alike in a tag":               {[][]tagged{alike, repeat(5, tagged{"b", false})}, 5},
		"the same tag in two pages":        {[][]tagged{alike, repeat(5, tagged{"a", false})}, 5},
		"no key differs from any":          {[][]tagged{alike, repeat(5, tagged{"b", true})}, 5},
		"and none of them without TTL":     {[][]tagged{repeat(4, tagged{"b", false})}, 4},
		"as many of each kind in each tag": {[][]tagged{mixed, mixed}, 1},
		// S1 = 2*9 = 18, S2 = 1*2 = 2, n = 6, p = 4/6: the correlation is 1 - (4/12) / (4/9) = 1/4.
		"partly alike": {[][]tagged{{{"a", true}, {"a", true}, {"a", true}, {"b", true}, {"b", false}, {"b", false}}}, 1.5},
	} {
		var group Group
		page := NewTagPage()
		for _, keys := range test.pages {
			for i, k := range keys {
				name := fmt.Sprint("k:", i)
				if k.tag != "" {
					name = fmt.Sprintf("k:{%s}:%d", k.tag, i)
				}
				if group.With++; k.without {
					group.With, group.Without = group.With-1, group.Without+1
				}
				page.Add(&group, name, k.without)
			}
			page.End()
		}
		if got := group.Tags.Effect(group.Examined(), group.Without); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if got := (TagSums{}).Effect(100, 30); got != 1 {
		t.Errorf("where no clusters were counted: %v", got)
	}
}

// TestTagEffectIsTheVariance: over many samples of clusters that fare more or
// less alike, the variance of the share is the effect times that of a binomial.
func TestTagEffectIsTheVariance(t *testing.T) {
	for _, alike := range []float64{0, 0.5, 1} {
		rng := rand.New(rand.NewPCG(1, 1))
		const samples, clusters, size, p = 1500, 100, 8, 0.3
		var names []string
		for i := range clusters * size {
			names = append(names, fmt.Sprintf("{%d}%d", i/size, i))
		}
		var sum, squares, effect float64
		for range samples {
			var group Group
			page := NewTagPage()
			for tag := range clusters {
				fate := rng.Float64() < p
				for i := range size {
					without := fate
					if rng.Float64() >= alike {
						without = rng.Float64() < p
					}
					if group.With++; without {
						group.With, group.Without = group.With-1, group.Without+1
					}
					page.Add(&group, names[tag*size+i], without)
				}
			}
			page.End()
			share := float64(group.Without) / float64(group.Examined())
			sum, squares = sum+share/samples, squares+share*share/samples
			effect += group.Tags.Effect(group.Examined(), group.Without) / samples
		}
		seen := (squares - sum*sum) / (p * (1 - p) / (clusters * size))
		if math.Abs(effect/seen-1) > 0.15 {
			t.Errorf("%v alike: the effect is %.2f, the variance %.2f times a binomial's", alike, effect, seen)
		}
	}
}

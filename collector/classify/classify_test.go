package classify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// hundredRules are rules as a large installation has them: many with the same
// beginning, some with a star in front.
func hundredRules() []Rule {
	var rules []Rule
	for i := range 100 {
		match := Globs{fmt.Sprintf("app%d:ratelimit:*", i)}
		switch i % 10 {
		case 7:
			match = Globs{fmt.Sprintf("rate_limit:team%d:*", i), fmt.Sprintf("rl:%d:*", i)}
		case 8:
			match = Globs{fmt.Sprintf("*:quota%d", i)}
		case 9:
			match = Globs{fmt.Sprintf("{tenant%d}:*:hits", i)}
		}
		rules = append(rules, Rule{Name: fmt.Sprintf("group%d", i), Match: match, Window: Duration(time.Minute), Limit: 10})
	}
	return rules
}

// benchmarkNames are what a busy keyspace holds: keys of rules, of presets and of
// neither, with ids of every kind.
var benchmarkNames = []string{
	"app42:ratelimit:user:8812345",
	"rate_limit:team97:203.0.113.9:1764500000",
	"tenant:42:quota98",
	"{tenant99}:api:hits",
	"ratelimit:8d1f3a52-7e5c-4c6e-9b0e-0a1b2c3d4e5f:e2c56db5-dffb-48d2-b060-d0f5a71096e0:203.0.113.9:1764500040000:minute",
	"fastify-rate-limit-203.0.113.9",
	"rlflx:login:alice@example.com",
	"session:9b2d5b2c8f6f4a0d9a7d0f1c2e3b4a59",
	"cache:product:01ARZ3NDEKTSV4RRFFQ69G5FAV",
	"queue:default",
	"user:1234567:profile",
	"limit:credit:EUR",
}

// BenchmarkClassify is the work on each key of a sweep: its group, with 100 rules
// and all presets, and the kind of its name.
func BenchmarkClassify(b *testing.B) {
	c := New(hundredRules(), Presets())
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		name := benchmarkNames[i%len(benchmarkNames)]
		i++
		if _, typed := c.Find(name); typed {
			c.Group(name, "string")
		}
		KindOf(name)
	}
}

func TestClassifyAllocatesNothing(t *testing.T) {
	c := New(hundredRules(), Presets())
	for _, name := range benchmarkNames {
		if n := testing.AllocsPerRun(10, func() { c.Find(name); c.Group(name, "string"); KindOf(name) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The index finds what comparing a name with every pattern finds.
func TestClassifyIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	text := func(alphabet string, longest int) string {
		b := make([]byte, rng.IntN(longest+1))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 300 {
		var rules []Rule
		for i := range 1 + rng.IntN(12) {
			rules = append(rules, Rule{Name: fmt.Sprint(i), Match: Globs{"ab" + text("ab*?", 4), text("ab*?[]", 6)}})
		}
		presets := []Preset{
			{Name: "x", Match: Globs{text("ab*", 5)}, Type: "hash"}, {Name: "y", Match: Globs{text("ab*", 5)}, Type: "string"},
			{Name: "z", Match: Globs{text("ab*", 5)}},
		}
		c := New(rules, presets)
		for range 50 {
			name, keyType := text("ab", 8), []string{"", "hash", "string", "list"}[rng.IntN(4)]
			want, typed := c.undescribed, false
			for _, p := range slices.Backward(c.patterns) {
				if p.glob.match(name) {
					typed = p.keyType != ""
					if p.keyType == "" || p.keyType == keyType {
						want = p.group
					}
				}
			}
			_, wants := c.Find(name)
			if got := c.Group(name, keyType); got != want || wants != typed {
				t.Fatalf("%q of type %q is in %d, want %d; wants its type: %v, want %v", name, keyType, got, want, wants, typed)
			}
		}
	}
}

func TestClassifyOrder(t *testing.T) {
	rules := []Rule{{Name: "mine", Match: Globs{"rate:mine:*"}}, {Name: "gcra", Match: Globs{"gcra:*"}}}
	presets := []Preset{
		{Name: "gcra", Match: Globs{"rate:*"}, Type: "string"},
		{Name: "bucket", Match: Globs{"rate:*"}, Type: "hash"},
		{Name: "index", Match: Globs{"rate:index:*", "other*"}},
	}
	c := New(rules, presets)
	for _, test := range []struct {
		name, keyType, group string
		wants                bool
	}{
		{"rate:a", "string", "gcra (preset)", true},
		{"rate:a", "hash", "bucket", true},
		{"rate:a", "zset", "", true},
		{"rate:a", "", "", true},
		{"rate:mine:a", "", "mine", false},
		{"rate:index:a", "", "index", false}, // more literal bytes
		{"other", "", "index", false},
		{"gcra:a", "", "gcra", false},
		{"rat", "", "", false},
		{"", "", "", false},
	} {
		got := ""
		if d := c.Definitions[c.Group(test.name, test.keyType)]; d != nil {
			got = d.Name
		}
		if _, wants := c.Find(test.name); got != test.group || wants != test.wants {
			t.Errorf("%q of type %q is in %q, want %q", test.name, test.keyType, got, test.group)
		}
	}
}

// FuzzClassify: whatever a key and a rule are called, the index finds what
// comparing with every pattern finds, and the rest of what is read from a name
// does not fail.
func FuzzClassify(f *testing.F) {
	for _, name := range benchmarkNames {
		f.Add(name, "rate_limit:*", "string")
	}
	f.Add("LIMITS:LIMITER/a/b/10/1/minute", "*[a-z]?*", "hash")
	f.Add("\xff{}::\x00", "[^", "")
	presets := New(nil, Presets())
	f.Fuzz(func(t *testing.T, name, pattern, keyType string) {
		for _, c := range []*Classifier{New([]Rule{{Name: "rule", Match: Globs{pattern}}}, nil), presets} {
			want := c.undescribed
			for _, p := range slices.Backward(c.patterns) {
				if p.glob.match(name) && (p.keyType == "" || p.keyType == keyType) {
					want = p.group
				}
			}
			if got := c.Group(name, keyType); got != want {
				t.Fatalf("%q is in %d, want %d", name, got, want)
			}
		}
		if kind := KindOf(name); kind > KindNone {
			t.Errorf("kind %d", kind)
		}
		if d := presets.Definitions[presets.Group(name, keyType)]; d != nil {
			if bound, _ := d.Bound(name); bound <= 0 {
				t.Errorf("%q is bounded by %v", name, bound)
			}
			d.Leaks(name, time.Unix(1_764_500_000, 0), false)
		}
	})
}

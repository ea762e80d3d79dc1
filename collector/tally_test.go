package collector

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// countsOf is a count of one database by rules in their quick form; the last of
// its groups takes what no rule does.
func countsOf(t testing.TB, groups string, walk bool) (*counting, *dbTally) {
	t.Helper()
	rules, err := ParseGroups(groups)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	c := &counting{
		classifier: newClassifier(rules, nil),
		suspects:   newNameStore(rng, limitedTo),
		memory:     newNameStore(rng, 50),
	}
	return c, c.newDBTally(0, walk)
}

// meet counts a key in the group of its name.
func (c *counting) meet(d *dbTally, m meeting) {
	m.group, _ = c.classifier.find(m.name)
	c.add(d, m)
}

func TestBandBounds(t *testing.T) {
	tests := []struct {
		ttl  time.Duration // the longest of its band
		band string
	}{
		{time.Minute, "1m"},
		{10 * time.Minute, "10m"},
		{time.Hour, "1h"},
		{24 * time.Hour, "1d"},
		{7 * 24 * time.Hour, "7d"},
		{30 * 24 * time.Hour, "30d"},
		{math.MaxInt64, "over"},
	}
	shortest := int64(0) // a key about to go still has a TTL
	for i, test := range tests {
		longest := test.ttl.Milliseconds()
		if bandNames[i+1] != test.band || bandOf(shortest) != i+1 || bandOf(longest) != i+1 {
			t.Errorf("%s: %d ms is in %s, %d ms in %s", test.band, shortest, bandNames[bandOf(shortest)], longest, bandNames[bandOf(longest)])
		}
		shortest = longest + 1
	}
	if bandNames[0] != "none" || len(bandNames) != len(tests)+1 || bandOf(math.MaxInt64) != len(tests) {
		t.Errorf("bands %v", bandNames)
	}
}

func TestTallyCounts(t *testing.T) {
	c, d := countsOf(t, "limit=limit:*@60s,flag=flag:*@persistent,late=limit:late:*", true)
	seen := time.Unix(1_700_000_000, 0)
	for _, m := range []meeting{
		{name: "limit:a", ttl: ttlNone},
		{name: "limit:late:a", ttl: 0}, // the first rule that matches wins
		{name: "limit:b", ttl: 60_000},
		{name: "limit:b", ttl: 60_001},
		{name: "limit:gone", ttl: ttlGone},
		{name: "limit:refused", ttl: ttlRefused},
		{name: "flag:a", ttl: ttlNone},
		{name: "flag:b", ttl: 5},
		{name: "flag:gone", ttl: ttlGone},
		{name: "a", ttl: ttlNone},
		{name: "", ttl: ttlNone},
		{name: "b\xff", ttl: math.MaxInt64},
		{name: "refused", ttl: ttlRefused},
	} {
		m.at = seen
		c.meet(d, m)
	}
	want := []struct {
		with, without int64
		bands         [len(bandNames)]int64
		excessive     int64
		expects       bool
		suspects      []string
		memWith       int
		memWithout    int // none where the sizes of the confirmed zombies are asked
	}{
		{3, 1, [8]int64{1: 2, 2: 1}, 0, true, []string{"limit:a"}, 3, 0},
		{1, 1, [8]int64{1: 1}, 0, false, nil, 1, 1},
		{0, 0, [8]int64{}, 0, true, nil, 0, 0},
		{1, 2, [8]int64{7: 1}, 1, false, nil, 1, 2},
	}
	if len(d.groups) != len(want) {
		t.Fatalf("%d groups", len(d.groups))
	}
	for i, w := range want {
		g := d.groups[i]
		if g.with != w.with || g.without != w.without || g.bands != w.bands || g.excessive != w.excessive {
			t.Errorf("group %d: %d with, %d without, bands %v, %d excessive", i, g.with, g.without, g.bands, g.excessive)
		}
		if g.examined() != w.with+w.without || g.expectsTTL() != w.expects || (g.suspects != nil) != w.expects {
			t.Errorf("group %d: %d examined, expects a TTL: %v", i, g.examined(), g.expectsTTL())
		}
		if len(g.memWith.keys) != w.memWith || len(g.memWithout.keys) != w.memWithout {
			t.Errorf("group %d: %d and %d keys for their sizes", i, len(g.memWith.keys), len(g.memWithout.keys))
		}
		for j, name := range w.suspects {
			if k := g.suspects.keys[j]; k.name != name || k.tally != g || k.db != 0 || !k.seen.Equal(seen) {
				t.Errorf("group %d: suspect %+v", i, k)
			}
		}
	}
	if with, without := d.sums(); with != 5 || without != 4 || d.refused != 2 {
		t.Errorf("%d with, %d without, %d refused", with, without, d.refused)
	}
}

func TestTallyExcessive(t *testing.T) {
	year := (366 * 24 * time.Hour).Milliseconds()
	tests := []struct {
		name, group string
		ttl         int64
		want        int64
	}{
		{"at twice the window", "a*@60s", 120_000, 0},
		{"above twice the window", "a*@60s", 120_001, 1},
		{"no bound said, at a year", "a*", year, 0},
		{"no bound said, above a year", "a*", year + 1, 1},
		{"persistent", "a*@persistent", math.MaxInt64, 0},
		{"no rule, at a year", "b*", year, 0},
		{"no rule, above a year", "b*", year + 1, 1},
		{"no TTL is not a long one", "a*@60s", ttlNone, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, d := countsOf(t, test.group, true)
			c.meet(d, meeting{name: "a", ttl: test.ttl})
			if got := d.groups[0].excessive + d.groups[1].excessive; got != test.want {
				t.Errorf("%d excessive", got)
			}
		})
	}
	c, d := countsOf(t, "a*@60s", true)
	d.groups[0].definition.ttl = Unknown // judged, but without suspects
	if d = c.newDBTally(0, true); d.groups[0].suspects != nil || d.groups[0].expectsTTL() || !d.groups[0].judgesTTL() {
		t.Error("an unknown group has suspects, or no excessive TTL")
	}
}

// A walk keeps every suspect, a sample a few of each group; without sizes no
// name is kept for them.
func TestTallySuspects(t *testing.T) {
	for _, walk := range []bool{true, false} {
		c, _ := countsOf(t, "a*@60s", walk)
		c.memory = nil
		d := c.newDBTally(7, walk)
		for range 3 * limitedTo {
			c.meet(d, meeting{name: "a", ttl: ttlNone})
			c.meet(d, meeting{name: "a", ttl: 1})
			c.meet(d, meeting{name: "b", ttl: ttlNone})
		}
		want := limitedTo
		if walk {
			want *= 3
		}
		g := d.groups[0]
		if len(g.suspects.keys) != want || g.without != 3*limitedTo || g.suspects.keys[0].db != 7 {
			t.Errorf("walk %v: %d suspects of %d", walk, len(g.suspects.keys), g.without)
		}
		if g.memWith != nil || g.memWithout != nil {
			t.Error("names are kept for sizes that nobody asks")
		}
	}
}

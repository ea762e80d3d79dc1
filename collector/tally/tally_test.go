package tally

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
)

// countsOf is a count of one database by rules in their quick form; the last of
// its groups takes what no rule does.
func countsOf(t testing.TB, groups string, walk bool) (*Counting, *Database) {
	t.Helper()
	rules, err := classify.ParseGroups(groups)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	c := &Counting{
		Classifier: classify.New(rules, nil),
		Suspects:   NewStore(rng, LimitedTo),
		Memory:     NewStore(rng, 50),
	}
	return c, c.NewDatabase(0, walk)
}

// meet counts a key in the group of its name.
func (c *Counting) meet(d *Database, m Meeting) {
	m.Group, _ = c.Classifier.Find(m.Name)
	c.Add(d, m)
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
		if BandNames[i+1] != test.band || bandOf(shortest) != i+1 || bandOf(longest) != i+1 {
			t.Errorf("%s: %d ms is in %s, %d ms in %s", test.band, shortest, BandNames[bandOf(shortest)], longest, BandNames[bandOf(longest)])
		}
		shortest = longest + 1
	}
	if BandNames[0] != "none" || len(BandNames) != len(tests)+1 || bandOf(math.MaxInt64) != len(tests) {
		t.Errorf("bands %v", BandNames)
	}
}

func TestTallyCounts(t *testing.T) {
	c, d := countsOf(t, "limit=limit:*@60s,flag=flag:*@persistent,late=limit:late:*", true)
	seen := time.Unix(1_700_000_000, 0)
	for _, m := range []Meeting{
		{Name: "limit:a", TTL: source.TTLNone},
		{Name: "limit:late:a", TTL: 0}, // the first rule that matches wins
		{Name: "limit:b", TTL: 60_000},
		{Name: "limit:b", TTL: 60_001},
		{Name: "limit:gone", TTL: source.TTLGone},
		{Name: "limit:refused", TTL: source.TTLRefused},
		{Name: "flag:a", TTL: source.TTLNone},
		{Name: "flag:b", TTL: 5},
		{Name: "flag:gone", TTL: source.TTLGone},
		{Name: "a", TTL: source.TTLNone},
		{Name: "", TTL: source.TTLNone},
		{Name: "b\xff", TTL: math.MaxInt64},
		{Name: "refused", TTL: source.TTLRefused},
	} {
		m.At = seen
		c.meet(d, m)
	}
	want := []struct {
		with, without int64
		bands         [len(BandNames)]int64
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
	if len(d.Groups) != len(want) {
		t.Fatalf("%d groups", len(d.Groups))
	}
	for i, w := range want {
		g := d.Groups[i]
		if g.With != w.with || g.Without != w.without || g.Bands != w.bands || g.Excessive != w.excessive {
			t.Errorf("group %d: %d with, %d without, bands %v, %d excessive", i, g.With, g.Without, g.Bands, g.Excessive)
		}
		if g.Examined() != w.with+w.without || g.ExpectsTTL() != w.expects || (g.Suspects != nil) != w.expects {
			t.Errorf("group %d: %d examined, expects a TTL: %v", i, g.Examined(), g.ExpectsTTL())
		}
		if len(g.MemWith.Keys) != w.memWith || len(g.MemWithout.Keys) != w.memWithout {
			t.Errorf("group %d: %d and %d keys for their sizes", i, len(g.MemWith.Keys), len(g.MemWithout.Keys))
		}
		for j, name := range w.suspects {
			if k := g.Suspects.Keys[j]; k.Name != name || k.Group != g || k.DB != 0 || !k.Seen.Equal(seen) {
				t.Errorf("group %d: suspect %+v", i, k)
			}
		}
	}
	if with, without := d.Sums(); with != 5 || without != 4 || d.Refused != 2 {
		t.Errorf("%d with, %d without, %d refused", with, without, d.Refused)
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
		{"no TTL is not a long one", "a*@60s", source.TTLNone, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, d := countsOf(t, test.group, true)
			c.meet(d, Meeting{Name: "a", TTL: test.ttl})
			if got := d.Groups[0].Excessive + d.Groups[1].Excessive; got != test.want {
				t.Errorf("%d excessive", got)
			}
		})
	}
	c, d := countsOf(t, "a*@60s", true)
	d.Groups[0].Definition.TTL = classify.Unknown // judged, but without suspects
	if d = c.NewDatabase(0, true); d.Groups[0].Suspects != nil || d.Groups[0].ExpectsTTL() || !d.Groups[0].judgesTTL() {
		t.Error("an unknown group has suspects, or no excessive TTL")
	}
}

// A walk keeps every suspect, a sample a few of each group; without sizes no
// name is kept for them.
func TestTallySuspects(t *testing.T) {
	for _, walk := range []bool{true, false} {
		c, _ := countsOf(t, "a*@60s", walk)
		c.Memory = nil
		d := c.NewDatabase(7, walk)
		for range 3 * LimitedTo {
			c.meet(d, Meeting{Name: "a", TTL: source.TTLNone})
			c.meet(d, Meeting{Name: "a", TTL: 1})
			c.meet(d, Meeting{Name: "b", TTL: source.TTLNone})
		}
		want := LimitedTo
		if walk {
			want *= 3
		}
		g := d.Groups[0]
		if len(g.Suspects.Keys) != want || g.Without != 3*LimitedTo || g.Suspects.Keys[0].DB != 7 {
			t.Errorf("walk %v: %d suspects of %d", walk, len(g.Suspects.Keys), g.Without)
		}
		if g.MemWith != nil || g.MemWithout != nil {
			t.Error("names are kept for sizes that nobody asks")
		}
	}
}

package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/source"
	"keyhealth/collector/tally"
)

// countsOf is a count of one database by rules in their quick form; the last of
// its groups takes what no rule does.
func countsOf(t testing.TB, groups string, walk bool) *tally.Database {
	t.Helper()
	rules, err := classify.ParseGroups(groups)
	if err != nil {
		t.Fatal(err)
	}
	c := &tally.Counting{Classifier: classify.New(rules, nil), Suspects: tally.NewStore(rand.New(rand.NewPCG(1, 1)), tally.LimitedTo)}
	return c.NewDatabase(0, walk)
}

// seenDB is a database with three groups: limit expects a TTL, flag does not,
// and the last one takes the rest.
func seenDB(t testing.TB, share float64, before, after source.DBSize) *tally.Database {
	t.Helper()
	d := countsOf(t, "limit=limit:*@60s,flag=flag:*@persistent", share == 1)
	d.Walked, d.Share, d.Sized, d.Before, d.After = share == 1, share, true, before, after
	return d
}

// saw sets what was seen of a group: all that have a TTL in one band, and how
// many of those without were looked at again and confirmed.
func saw(t *tally.Group, with, without, looked, confirmed int64) *tally.Group {
	t.With, t.Without, t.Looked = with, without, looked
	t.Bands = [len(tally.BandNames)]int64{2: with}
	t.Confirmed = make([]tally.Key, confirmed)
	return t
}

// figuresOf are the groups of one sweep of one node, all of them, and those that
// expect a TTL together.
func figuresOf(d *tally.Database, change ...func(*estimator, *Counted)) (groups []Group, expected Group) {
	e, node := newEstimator(d), &Counted{Databases: []*tally.Database{d}}
	for _, f := range change {
		f(e, node)
	}
	var together strata
	for _, t := range d.Groups {
		r := e.reading(t)
		g := newGathered(d, t)
		g.strata = strata{&r}
		g.fill([]*Counted{node})
		groups = append(groups, g.Group)
		if g.expectsTTL {
			together = append(together, &r)
		}
	}
	return groups, together.together(d.DB)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// After a walk of a keyspace that stands still every number is the one that was
// counted, to the last bit.
func TestEstimateStillWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		d := seenDB(t, 1, source.DBSize{}, source.DBSize{})
		var size source.DBSize
		for i, g := range d.Groups {
			without := rng.Int64N(1 << rng.IntN(14))
			saw(g, 1+rng.Int64N(1<<rng.IntN(36)), without, without, rng.Int64N(without+1))
			g.Excessive = rng.Int64N(g.With + 1)
			if i != 0 {
				g.Looked, g.Confirmed = 0, nil
			}
			size.Keys += g.Examined()
			size.Expires += g.With
		}
		d.Before, d.After = size, size
		groups, expected := figuresOf(d)
		for i, g := range groups {
			seen := d.Groups[i]
			if g.Keys != float64(seen.Examined()) || g.WithoutTTL != float64(seen.Without) || g.Excessive != float64(seen.Excessive) ||
				g.ByTTL[0] != float64(seen.Without) || g.ByTTL[2] != float64(seen.With) || g.Examined != seen.Examined() {
				t.Fatalf("counted %+v, published %+v", seen, g)
			}
		}
		z, ratio := groups[0].Zombies, float64(len(d.Groups[0].Confirmed))/groups[0].Keys
		if groups[1].Zombies != nil || groups[2].Zombies != nil {
			t.Fatal("zombies where none are expected")
		}
		if z.Keys != float64(len(d.Groups[0].Confirmed)) || z.Ratio != ratio || z.Interval != (Interval{ratio, ratio}) || !z.Rated {
			t.Fatalf("%+v, want the ratio %v", z, ratio)
		}
		if expected.Keys != groups[0].Keys || *expected.Zombies != *z || *Unreclaimed(d) != 0 {
			t.Fatalf("%+v of all, %+v of the only group", expected.Zombies, z)
		}
	}
}

func TestEstimateScales(t *testing.T) {
	const million = 1_000_000
	size := func(keys, expires int64) source.DBSize { return source.DBSize{Keys: keys, Expires: expires} }
	tests := []struct {
		name            string
		share           float64
		before, after   source.DBSize
		change          func(*tally.Database)
		with, without   int64 // of every group
		scaleWith       float64
		scaleWithout    float64
		unreclaimed     float64
		unreclaimedNone bool
	}{
		{name: "a tenth", share: 0.1, before: size(million, 700_000), after: size(million, 700_000), with: 70_000, without: 30_000, scaleWith: 10, scaleWithout: 10},
		{name: "seen too few without", share: 0.1, before: size(million, 700_000), after: size(million, 700_000), with: 75_000, without: 25_000, scaleWith: 28. / 3, scaleWithout: 12},
		{name: "INFO holds 30 % garbage", share: 0.1, before: size(million, 900_000), after: size(million, 900_000), with: 60_000, without: 10_000, scaleWith: 10, scaleWithout: 10, unreclaimed: 0.3},
		{name: "a walk with garbage", share: 1, before: size(1000, 900), after: size(1000, 900), with: 600, without: 100, scaleWith: 1, scaleWithout: 1, unreclaimed: 0.3},
		{name: "all with TTL are gone", share: 1, before: size(1000, 900), after: size(1000, 900), without: 100, scaleWithout: 1, unreclaimed: 0.9},
		{name: "grown to twice", share: 1, before: size(500, 400), after: size(1000, 800), with: 600, without: 150, scaleWith: 1, scaleWithout: 1, unreclaimedNone: true},
		{name: "grown to twice, with garbage", share: 1, before: size(500, 400), after: size(1000, 800), with: 450, without: 150, scaleWith: 1, scaleWithout: 1, unreclaimedNone: true},
		{name: "grown from nothing", share: 1, before: size(0, 0), after: size(1000, 500), with: 250, without: 250, scaleWith: 1, scaleWithout: 1, unreclaimedNone: true},
		{name: "shrunk to half", share: 1, before: size(1000, 800), after: size(500, 400), with: 600, without: 150, scaleWith: 1, scaleWithout: 1},
		{name: "more seen than there can be", share: 0.1, before: size(1000, 900), after: size(1000, 900), with: 108, without: 12, scaleWith: 900. / 108, scaleWithout: 100. / 12},
		{name: "emptied meanwhile", share: 1, before: size(100, 50), after: size(0, 0), with: 50, without: 50, scaleWith: 1, scaleWithout: 1, unreclaimedNone: true},
		{name: "none without", share: 0.5, before: size(1000, 990), after: size(1000, 990), with: 495, scaleWith: 2},
		{name: "many persistent keys came meanwhile", share: 0.1, before: size(1000, 900), after: size(9000, 900), with: 90, without: 50, scaleWith: 10, scaleWithout: 10, unreclaimedNone: true},
		{name: "TTLs were set meanwhile", share: 0.1, before: size(1000, 900), after: size(1000, 950), with: 90, without: 10, scaleWith: 10, scaleWithout: 10},
		{name: "2 % more", share: 0.1, before: size(10_000, 9000), after: size(10_200, 9180), with: 918, without: 102, scaleWith: 10, scaleWithout: 10},
		{name: "nothing seen", share: 0, before: size(10, 5), after: size(10, 5), unreclaimed: 1},
		{name: "keys refused", share: 0.5, before: size(1000, 500), after: size(1000, 500), with: 10, without: 10, change: func(d *tally.Database) { d.Refused = 1 }, scaleWith: 2, scaleWithout: 2, unreclaimedNone: true},
		{name: "no sizes", share: 0.25, with: 10, without: 10, change: func(d *tally.Database) { d.Sized = false }, scaleWith: 4, scaleWithout: 4, unreclaimedNone: true},
		{name: "no sizes, walked", share: 1, with: 10, without: 10, change: func(d *tally.Database) { d.Sized = false }, scaleWith: 1, scaleWithout: 1, unreclaimedNone: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := seenDB(t, test.share, test.before, test.after)
			saw(d.Groups[0], test.with/2, test.without/2, test.without/2, 0)
			saw(d.Groups[2], test.with-test.with/2, test.without-test.without/2, 0, 0)
			if test.change != nil {
				test.change(d)
			}
			e := newEstimator(d)
			if !near(e.scaleWith, test.scaleWith) || !near(e.scaleWithout, test.scaleWithout) {
				t.Errorf("scales %v and %v", e.scaleWith, e.scaleWithout)
			}
			got := Unreclaimed(d)
			if (got == nil) != test.unreclaimedNone || got != nil && !near(*got, test.unreclaimed) {
				t.Errorf("unreclaimed %v, want %v", got, test.unreclaimed)
			}
		})
	}
}

func TestEstimateZombies(t *testing.T) {
	const tenth = 0.1
	size := source.DBSize{Keys: 100_000, Expires: 90_000}
	tests := []struct {
		name                             string
		share                            float64
		with, without, looked, confirmed int64
		keys                             float64 // zombies
		want                             func(*tally.Database) Interval
		unrated                          bool
	}{
		{"all looked at", tenth, 900, 100, 100, 80, 800, func(*tally.Database) Interval { return shareInterval(80, 1000, 10_000/(1-uneven)) }, false},
		{"part looked at", tenth, 600, 400, 100, 80, 3200, func(*tally.Database) Interval {
			share, confirmed := shareInterval(400, 1000, 10_000/(1-uneven)), ClopperPearson(80, 100)
			return Interval{share.Lower * confirmed.Lower, share.Upper * confirmed.Upper}
		}, false},
		{"none confirmed of a part", tenth, 600, 400, 100, 0, 0, func(*tally.Database) Interval {
			return Interval{0, shareInterval(400, 1000, 10_000/(1-uneven)).Upper * (1 - math.Pow(0.025, 0.01))}
		}, false},
		{"none seen", tenth, 1000, 0, 0, 0, 0, func(*tally.Database) Interval { return Interval{0, shareInterval(0, 1000, 10_000/(1-uneven)).Upper} }, false},
		{"a walk, part looked at", 1, 60_000, 10_000, 100, 80, 8000, func(*tally.Database) Interval {
			confirmed := ClopperPearson(80, 100)
			return Interval{confirmed.Lower / 7, confirmed.Upper / 7}
		}, false},
		{"ten keys", tenth, 9, 1, 1, 1, 10, func(*tally.Database) Interval { return shareInterval(1, 10, 100/(1-uneven)) }, false},
		{"nine keys", tenth, 8, 1, 1, 1, 10, nil, true},
		{"nine keys of a walk", 1, 8, 1, 1, 1, 1, func(*tally.Database) Interval { return Interval{1. / 9, 1. / 9} }, false},
		{"no keys", 1, 0, 0, 0, 0, 0, nil, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := seenDB(t, test.share, size, size)
			saw(d.Groups[0], test.with, test.without, test.looked, test.confirmed)
			saw(d.Groups[2], int64(90_000*test.share)-test.with, int64(10_000*test.share)-test.without, 0, 0)
			groups, expected := figuresOf(d)
			z := groups[0].Zombies
			if !near(z.Keys, test.keys) || z.Seen != test.confirmed || z.Rated == test.unrated {
				t.Fatalf("%+v", z)
			}
			want := Interval{}
			if test.want != nil {
				want = test.want(d)
				if !near(z.Ratio, test.keys/groups[0].Keys) || !near(want.Upper, z.Interval.Upper) || !near(want.Lower, z.Interval.Lower) {
					t.Errorf("ratio %v, interval %v, want %v", z.Ratio, z.Interval, want)
				}
				if want.Upper == 0 || z.Ratio < z.Interval.Lower || z.Ratio > z.Interval.Upper {
					t.Errorf("the ratio %v is outside of %v", z.Ratio, z.Interval)
				}
			} else if z.Ratio != 0 || z.Interval != want {
				t.Errorf("too few keys have the ratio %v, %v", z.Ratio, z.Interval)
			}
			// One group is all there is: taken together nothing changes.
			if all := expected.Zombies; !near(all.Keys, z.Keys) || !near(all.Ratio, z.Ratio) || !near(all.Interval.Lower, z.Interval.Lower) || !near(all.Interval.Upper, z.Interval.Upper) {
				t.Errorf("of all %+v, of the group %+v", all, z)
			}
		})
	}
}

// Suspects nobody could look at again are neither zombies nor none: neither the
// group nor its database has a figure.
func TestEstimateNotLookedAt(t *testing.T) {
	d := countsOf(t, "a=a*@60s,b=b*@60s,c=c*@60s", true)
	d.Walked, d.Share = true, 1
	saw(d.Groups[0], 10, 5, 0, 0)
	saw(d.Groups[1], 60, 40, 40, 30)
	saw(d.Groups[2], 100, 0, 0, 0)
	groups, expected := figuresOf(d)
	if groups[0].Zombies != nil || groups[0].WithoutTTL != 5 {
		t.Errorf("zombies %+v of %v keys that were not looked at", groups[0].Zombies, groups[0].WithoutTTL)
	}
	if groups[1].Zombies.Keys != 30 || expected.Zombies != nil {
		t.Errorf("%+v, all %+v", groups[1].Zombies, expected.Zombies)
	}
}

func TestEstimateLeaksAndLockouts(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	names := []string{
		"limit:alice", "limit:bob", // fixed names
		"limit:1699999879", "limit:1699999880", // just older than 2 minutes, and just not
		"limit:1699913599", "limit:1699913600", // around 24 hours
		"limit:1700000060", // still to come
	}
	yes := true
	tests := []struct {
		name            string
		rule            classify.Rule
		now             time.Time
		leaked, lockout float64
	}{
		{"a window", classify.Rule{Window: classify.Duration(time.Minute)}, now, 3, 0},
		{"no bound: 24 hours", classify.Rule{}, now, 1, 0},
		{"a limit", classify.Rule{MaxTTL: classify.Duration(2 * time.Minute), Limit: 5}, now, 3, 2},
		{"said to lock out", classify.Rule{Lockout: &yes}, now, 1, 2},
		{"no clock", classify.Rule{Window: classify.Duration(time.Minute), Limit: 5}, time.Time{}, 0, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := seenDB(t, 0.1, source.DBSize{Keys: 2000, Expires: 1000}, source.DBSize{Keys: 2000, Expires: 1000})
			g := saw(d.Groups[0], 100, 100, 10, int64(len(names)))
			g.Definition = classify.New([]classify.Rule{test.rule}, nil).Definitions[0]
			for i, name := range names {
				g.Confirmed[i].Name = name
			}
			// Each confirmed key stands for 10 x 10: a tenth was met, a tenth of that looked at.
			groups, _ := figuresOf(d, func(e *estimator, _ *Counted) { e.now = test.now })
			z := groups[0].Zombies
			if z.Keys != 700 || z.Leaked != 100*test.leaked || z.LockoutRisk != 100*test.lockout {
				t.Errorf("%v zombies, %v leaked, %v lock-out risk", z.Keys, z.Leaked, z.LockoutRisk)
			}
		})
	}
}

func TestEstimateMemory(t *testing.T) {
	of := func(bytes float64, n int) (m tally.Mean) {
		for range n {
			m.Add(bytes)
		}
		return m
	}
	tests := []struct {
		name          string
		size          tally.Sizes
		keys, zombies float64 // of 60 keys with TTL and 40 without, 10 of them zombies
		other         float64 // of as many keys in a group without zombies
	}{
		{"nothing asked", tally.Sizes{}, 0, 0, 0},
		{"each kind", tally.Sizes{With: of(100, 3), Zombies: of(50, 2), Without: of(10, 1)}, 60*100 + 40*50, 500, 60*100 + 40*10},
		{"only with", tally.Sizes{With: of(100, 3)}, 10_000, 0, 10_000},
		{"only without", tally.Sizes{Zombies: of(50, 2), Without: of(10, 1)}, 5000, 500, 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := seenDB(t, 1, source.DBSize{Keys: 200, Expires: 120}, source.DBSize{Keys: 200, Expires: 120})
			saw(d.Groups[0], 60, 40, 40, 10).Size = test.size
			saw(d.Groups[1], 60, 40, 0, 0).Size = test.size
			if groups, _ := figuresOf(d); groups[0].Memory != nil || groups[1].Memory != nil {
				t.Error("memory although sizes are off")
			}
			groups, _ := figuresOf(d, func(_ *estimator, node *Counted) { node.Measured = true })
			if got := *groups[0].Memory; got != (Memory{test.keys, test.zombies}) {
				t.Errorf("%+v", got)
			}
			if got := *groups[1].Memory; got != (Memory{test.other, 0}) {
				t.Errorf("without zombies %+v", got)
			}
		})
	}
}

// Whatever was seen, the figures fit each other: bands and ratio are made of
// the counts that are published, and nothing is negative.
func TestEstimateFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	upTo := func(n int64) int64 { return rng.Int64N(rng.Int64N(n+1) + 1) }
	for range 2000 {
		after := source.DBSize{Keys: upTo(1e6)}
		after.Expires = upTo(after.Keys)
		d := seenDB(t, []float64{1, 0.5, 0.01, 0}[rng.IntN(4)], source.DBSize{Keys: upTo(1e6)}, after)
		d.Sized, d.Refused = rng.IntN(5) > 0, upTo(1)
		d.Groups[0].Definition.TTL = []classify.Expectation{classify.Expected, classify.Unknown}[rng.IntN(2)]
		for _, g := range d.Groups {
			without := upTo(2000)
			looked := []int64{without, upTo(without)}[rng.IntN(2)]
			saw(g, upTo(2000), without, looked, upTo(looked))
		}
		groups, expected := figuresOf(d)
		for _, g := range append(groups, expected) {
			sum := 0.0
			for _, n := range g.ByTTL {
				sum += n
			}
			if g.ByTTL != [len(tally.BandNames)]float64{} && !near(sum, g.Keys) || !(g.Keys >= g.WithoutTTL && g.WithoutTTL >= 0) || math.IsInf(g.Keys, 0) {
				t.Fatalf("bands %v of %v keys, %v without TTL", g.ByTTL, g.Keys, g.WithoutTTL)
			}
			z := g.Zombies
			if z == nil || !z.Rated {
				continue
			}
			if z.Ratio != z.Keys/g.Keys || !(0 <= z.Interval.Lower && z.Interval.Lower <= z.Ratio && z.Ratio <= z.Interval.Upper && z.Interval.Upper <= 1) {
				t.Fatalf("%+v of %v keys", z, g.Keys)
			}
			if d.Walked && d.Groups[0].Looked == d.Groups[0].Without && z.Interval.Upper > z.Interval.Lower {
				t.Fatalf("%+v after a walk that looked at all again", z)
			}
		}
	}
}

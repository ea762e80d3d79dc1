// A keyspace that breathes around the budget: what is published of a group
// follows its keys, on walks, on samples, and where one follows the other.

package sweep

import (
	"fmt"
	"math"
	"testing"
	"time"

	"keyhealth/collector/classify"
	"keyhealth/collector/internal/fake"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// breathed is the name and TTL of the keyspace's i-th key. Of each 50 keys one
// is of the group rare, 30 are of limit, and one of either four is a zombie; the
// rest is of no group, half of it without TTL.
func breathed(i int) (group, name string, ttl time.Duration) {
	turn := i / 50 % 4
	switch place := i % 50; {
	case place < 1:
		group = "rare"
	case place < 31:
		group = "limit"
	default:
		group, turn = classify.OtherGroup, turn%2
	}
	if turn > 0 {
		ttl = 20 * time.Hour
	}
	return group, fmt.Sprintf("%s:%d", group, i), ttl
}

// lung is a keyspace that can hold any number of these keys.
type lung struct {
	have        int
	put, remove func(from, to int) // the keys from <= i < to
}

func (l *lung) breathe(keys int) {
	if keys > l.have {
		l.put(l.have, keys)
	} else {
		l.remove(keys, l.have)
	}
	l.have = keys
}

// truth is how many keys of each group there are, with and without TTL.
func (l *lung) truth() map[string][2]float64 {
	of := map[string][2]float64{}
	for i := range l.have {
		group, _, ttl := breathed(i)
		n := of[group]
		n[map[bool]int{true: 1}[ttl == 0]]++
		of[group] = n
	}
	return of
}

// breaths are the sizes of a period, which begins at its largest.
func breaths(low, high, steps int) []int {
	sizes := make([]int, steps)
	for i := range sizes {
		sizes[i] = low + int(float64(high-low)*(1+math.Cos(2*math.Pi*float64(i)/float64(steps)))/2)
	}
	return sizes
}

// breathing counts what a run showed.
type breathing struct {
	walks, samples, turns, pooled int
	zombie                        coverage
	walked                        bool
}

// check compares a sweep's figures with the truth: a walk's are exact, a
// sample's off by no more than its size explains. A pool is also off by what
// its samples are old.
func (b *breathing) check(t *testing.T, l *lung, result *Result) {
	t.Helper()
	d := result.Databases[0]
	if b.walks+b.samples > 0 && d.Walked != b.walked {
		b.turns++
	}
	if b.walked = d.Walked; d.Walked {
		b.walks++
	} else {
		b.samples++
	}
	for group, n := range l.truth() {
		g := mustGroup(t, result, 0, group)
		samples := float64(g.Examined) / (d.Share * g.Keys)
		within := func(what string, got, want float64) {
			t.Helper()
			limit := 5*math.Sqrt(want*math.Max(0, 1-d.Share)/d.Share/math.Max(1, samples)) + 1e-6*want
			if samples > 1.5 {
				limit += 0.1 / 2 * want // the drift that a pool allows
			}
			if math.Abs(got-want) > limit {
				t.Errorf("%d keys, walked %v: %s of %s are %.1f, not %.1f (within %.1f; %.1f samples)", l.have, d.Walked, what, group, got, want, limit, samples)
			}
		}
		if samples > 1.5 {
			b.pooled++
		}
		within("keys", g.Keys, n[0]+n[1])
		within("keys without TTL", g.WithoutTTL, n[1])
		within("keys that live for hours", g.ByTTL[4], n[0])
		if group != classify.OtherGroup {
			within("zombies", g.Zombies.Keys, n[1])
			b.zombie.add(g.Zombies.Interval, n[1]/(n[0]+n[1]))
		}
	}
}

// breathe runs periods and wants the figures to follow.
func breathe(t *testing.T, l *lung, s *sweeper, sizes []int, periods int) *breathing {
	t.Helper()
	b, began := &breathing{}, time.Now()
	for i := range periods * len(sizes) {
		l.breathe(sizes[i%len(sizes)])
		if n, fake := s.node.(*fake.Node); fake {
			pass(time.Until(began.Add(time.Duration(i) * s.target.Sweep.Interval)))
			n.Forget()
		}
		b.check(t, l, sweepOf(t, s))
	}
	b.zombie.want(t, "the zombie ratio", 0.2, 1e-8)
	t.Logf("%d walks, %d samples, %d turns, %d pooled figures; zombie ratio covered: %s %%", b.walks, b.samples, b.turns, b.pooled, &b.zombie)
	return b
}

func breathingTarget(t *testing.T, budget int64) spec.Target {
	target := sampledTarget(t, "rare=rare:*@24h,limit=limit:*@24h", budget)
	target.Sweep.BigKeys.Budget = 0
	return target
}

// ranges are the sizes between which the keyspace breathes, as shares of the
// budget: those that a walk keeps up with, and those that end it.
var ranges = []struct {
	low, high float64
	turns     bool
}{{0.8, 1.6, false}, {0.8, 2.2, true}}

func TestStatsBreathing(t *testing.T) {
	const budget, steps, periods = 5000, 40, 3
	for _, r := range ranges {
		t.Run(fmt.Sprint(r.low, " to ", r.high), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := fake.NewNode(t)
				l := &lung{
					put: func(from, to int) {
						for i := from; i < to; i++ {
							_, name, ttl := breathed(i)
							n.Set(0, name, ttl)
						}
					},
					remove: func(from, to int) {
						for i := from; i < to; i++ {
							_, name, _ := breathed(i)
							n.Remove(0, name)
						}
					},
				}
				s := newSweeper(breathingTarget(t, budget), n, 1)
				b := breathe(t, l, s, breaths(budget*8/10, int(budget*r.high), steps), periods)
				if b.samples == 0 || b.pooled == 0 || r.turns != (b.turns > periods) {
					t.Errorf("not what was to be tried: %+v", b)
				}
			})
		})
	}
}

const breatheLua = `
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) - 1 do
	local place, turn, name = i % 50, math.floor(i / 50) % 4, ''
	if place < 1 then name = 'rare:' elseif place < 31 then name = 'limit:' else name, turn = '(other):', turn % 2 end
	if ARGV[3] == 'remove' then redis.call('DEL', name .. i)
	elseif turn > 0 then redis.call('SET', name .. i, '7', 'PX', 72000000)
	else redis.call('SET', name .. i, '7') end
end`

func measureBreathing(t *testing.T) {
	for _, r := range ranges {
		t.Run(fmt.Sprint(r.low, " to ", r.high), func(t *testing.T) {
			server := redistest.Start(t)
			l := &lung{
				put:    func(from, to int) { redistest.Fill(t, server, breatheLua, from, to, "put") },
				remove: func(from, to int) { redistest.Fill(t, server, breatheLua, from, to, "remove") },
			}
			target := breathingTarget(t, spec.DefaultSweep().MaxKeys)
			of := crowdTarget(t, server.Addr(), nil, 1)
			target.Endpoint, target.Sweep.Duty, target.Sweep.ScanCount, target.Sweep.Interval = of.Endpoint, 1, 1000, time.Hour
			s := hasty(target, serverOf(target), 1)
			breathe(t, l, s, breaths(80_000, int(100_000*r.high), 40), 2)
		})
	}
}

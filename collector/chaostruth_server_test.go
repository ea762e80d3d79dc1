// What the keys of a Cluster really were while everything happened to it: each
// node is counted by a goroutine of its own, and who changes keys writes down what
// and when. No count is taken to be exact but of the moment it was taken.

package collector

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/collector/source"
)

// count is what a node said, at some moment from asked to answered.
type count struct {
	asked, answered time.Time
	keys            int64
	primary, failed bool
}

// deed is what somebody did to the keys, at some moment from began to ended.
type deed struct {
	began, ended time.Time
	sets, dels   int64 // at most so many keys came and went, on any node
}

// everything is a number of keys that no node has.
const everything = math.MaxInt32

// truth is what is known of the keys, by node.
type truth struct {
	mu     sync.Mutex
	counts [][]count
	deeds  []deed
}

// late is how long after its failure a call may still be carried out: when its
// server is thawed, which is with the next strike.
const late = 10 * time.Second

// did writes down what has been done since began.
func (tr *truth) did(began time.Time, sets, dels int64, err error) {
	d := deed{began, time.Now(), sets, dels}
	if err != nil {
		d.ended = d.ended.Add(late)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.deeds = append(tr.deeds, d)
}

// countNode counts a node's keys again and again until ctx ends.
func (tr *truth) countNode(ctx context.Context, node int, client *redis.Client) {
	for ctx.Err() == nil {
		c := count{asked: time.Now()}
		info, err := client.Info(ctx, "replication", "keyspace").Result()
		c.answered, c.failed = time.Now(), err != nil
		parsed := source.ParseInfo(info)
		sizes, _ := parsed.Keyspace()
		c.keys, c.primary = sizes[0].Keys, parsed.Role() == "master"
		tr.mu.Lock()
		tr.counts[node] = append(tr.counts[node], c)
		tr.mu.Unlock()
		_ = sleep(ctx, 20*time.Millisecond)
	}
}

// bounds are the fewest and the most keys.
type bounds struct{ low, high int64 }

func (b bounds) hold(n float64) bool { return float64(b.low) <= n && n <= float64(b.high) }

// between are the bounds of what the nodes' counts, taken at any moments from one
// time to another, add up to; and of the keys that somebody who goes through them
// all meets in that time. ready is false while that time is too fresh. known is
// false where it cannot be told: a node did not answer, or its role changed.
func (tr *truth) between(from, to time.Time) (counted, met bounds, ready, known bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	primaries, first := 0, from
	for _, counts := range tr.counts {
		window, complete := around(counts, from, to)
		if !complete {
			return bounds{}, bounds{}, false, false
		}
		primary, failed := 0, 0
		for _, c := range window {
			primary, failed = primary+int(number01(c.primary && !c.failed)), failed+int(number01(c.failed))
		}
		switch {
		case primary == 0: // a replica, or one that is down
			continue
		case primary < len(window) || window[0].answered.After(from):
			return bounds{}, bounds{}, true, false
		}
		primaries++
		b := tr.counted(window)
		counted.low, counted.high = counted.low+b.low, counted.high+b.high
		met.low, met.high = met.low+window[0].keys, met.high+window[0].keys
		if window[0].asked.Before(first) {
			first = window[0].asked
		}
	}
	sets, dels := tr.done(first, to)
	met.low, met.high = max(0, met.low-dels), met.high+sets
	return counted, met, true, primaries == 3
}

// around are the counts from the last one that was answered before from to the
// first one that was asked after to.
func around(counts []count, from, to time.Time) (window []count, complete bool) {
	first := 0
	for i, c := range counts {
		if c.answered.Before(from) {
			first = i
		}
		if c.asked.After(to) {
			return counts[first : i+1], true
		}
	}
	return nil, false
}

// counted bounds a node's keys at every moment of a window: between two counts
// they are within what was done of either.
func (tr *truth) counted(window []count) bounds {
	b := bounds{math.MaxInt64, 0}
	for i := range len(window) - 1 {
		before, after := window[i], window[i+1]
		sets, dels := tr.done(before.asked, after.answered)
		b.low = min(b.low, max(before.keys-dels, after.keys-sets, 0))
		b.high = max(b.high, min(before.keys+sets, after.keys+dels))
	}
	return b
}

// done is the most that may have been done from one time to another.
func (tr *truth) done(from, to time.Time) (sets, dels int64) {
	for _, d := range tr.deeds {
		if d.ended.After(from) && d.began.Before(to) {
			sets, dels = sets+d.sets, dels+d.dels
		}
	}
	return sets, dels
}

// forget drops what no window reaches any more.
func (tr *truth) forget(before time.Time) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for node, counts := range tr.counts {
		for len(counts) > 1 && counts[1].answered.Before(before) {
			counts = counts[1:]
		}
		tr.counts[node] = append([]count(nil), counts...)
	}
	var deeds []deed
	for _, d := range tr.deeds {
		if d.ended.After(before) {
			deeds = append(deeds, d)
		}
	}
	tr.deeds = deeds
}

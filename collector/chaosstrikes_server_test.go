package collector

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/collector/source"
	"keyhealth/internal/redistest"
)

// mending ends what was done to a server.
type mending func(*redistest.Server, testing.TB)

// strike makes one thing happen, or ends one.
func (c *chaos) strike(ctx context.Context) {
	if len(c.down) > 0 {
		c.mend()
		return
	}
	i := c.rng.IntN(len(c.servers))
	switch c.rng.IntN(5) {
	case 0:
		c.did("killed")
		c.servers[i].Kill()
		c.down[i] = (*redistest.Server).Restart
	case 1:
		c.did("frozen")
		c.servers[i].Freeze(c.t)
		c.down[i] = (*redistest.Server).Thaw
	case 2:
		c.did("flushed")
		for _, client := range c.clients {
			client.FlushAll(ctx) // replicas refuse
		}
	case 3:
		c.did("slot moved")
		c.moveSlot(ctx)
	case 4:
		c.did("restarted")
		c.servers[i].Kill()
		c.servers[i].Restart(c.t)
	}
}

func (c *chaos) did(what string) { c.done[what]++ }

// mend ends what lasts.
func (c *chaos) mend() {
	for i, end := range c.down {
		end(c.servers[i], c.t)
		delete(c.down, i)
	}
}

// moveSlot gives a slot with its keys to another primary.
func (c *chaos) moveSlot(ctx context.Context) {
	slot := c.rng.IntN(source.HashSlots)
	type primary struct {
		client   *redis.Client
		id       string
		host     string
		port     int
		hasSlot  bool
		position int
	}
	var from, to *primary
	for i, client := range c.clients {
		nodes, err := client.ClusterNodes(ctx).Result()
		if err != nil {
			continue
		}
		for _, n := range source.ParseClusterNodes(nodes) {
			if !n.Is("myself") || !n.Is("master") {
				continue
			}
			p := &primary{client: client, id: n.ID, host: c.servers[i].Host(), port: c.servers[i].Port(), position: i}
			for _, own := range source.OwnSlots(nodes) {
				p.hasSlot = p.hasSlot || own == slot
			}
			if p.hasSlot {
				from = p
			} else {
				to = p
			}
		}
	}
	if from == nil || to == nil {
		return
	}
	_ = to.client.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.id).Err()
	_ = from.client.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.id).Err()
	for {
		names, err := from.client.ClusterGetKeysInSlot(ctx, slot, 100).Result()
		if err != nil || len(names) == 0 {
			break
		}
		arguments := []any{"MIGRATE", to.host, strconv.Itoa(to.port), "", 0, 1000, "KEYS"}
		for _, name := range names {
			arguments = append(arguments, name)
		}
		if from.client.Do(ctx, arguments...).Err() != nil {
			break
		}
	}
	for _, p := range []*primary{to, from} {
		_ = p.client.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.id).Err()
	}
}

// write adds and removes keys until ctx ends; errors are part of the game.
func (c *chaos) write(ctx context.Context) {
	client := c.cluster.Client(c.t)
	for i := 0; ctx.Err() == nil; i++ {
		pipe := client.Pipeline()
		for j := range 20 {
			name := fmt.Sprintf("limit:more:%d", (i*20+j)%5000)
			if j%3 == 0 {
				pipe.Del(ctx, name)
			} else {
				pipe.Set(ctx, name, 1, time.Duration(j%2)*time.Minute)
			}
		}
		_, _ = pipe.Exec(ctx)
		_ = sleep(ctx, 50*time.Millisecond)
	}
}

// countAlways asks the primaries for their keys, again and again.
func (c *chaos) countAlways(ctx context.Context) {
	for ctx.Err() == nil {
		now := count{at: time.Now(), keys: map[string]int64{}}
		for i, client := range c.clients {
			info, err := client.Info(ctx, "replication", "keyspace").Result()
			if err != nil {
				continue
			}
			parsed := source.ParseInfo(info)
			if sizes, _ := parsed.Keyspace(); parsed.Role() == "master" {
				now.keys[c.servers[i].Addr()] = sizes[0].Keys
			}
		}
		now.known = len(now.keys) == 3
		c.mu.Lock()
		c.counts = append(c.counts, now)
		if len(c.counts) > 2000 {
			c.counts = c.counts[1000:]
		}
		c.mu.Unlock()
		_ = sleep(ctx, 20*time.Millisecond)
	}
}

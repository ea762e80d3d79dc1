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
	began := time.Now()
	switch c.rng.IntN(8) {
	case 0:
		c.did("killed")
		c.servers[i].Kill()
		c.truth.did(began, 0, everything, nil)
		c.down[i] = (*redistest.Server).Restart
	case 1:
		c.did("frozen")
		c.servers[i].Freeze(c.t)
		c.down[i] = (*redistest.Server).Thaw
	case 2:
		c.did("flushed")
		for _, client := range c.clients {
			err := client.FlushAll(ctx).Err()
			if redis.HasErrorPrefix(err, "READONLY") { // a replica
				err = nil
			}
			c.truth.did(began, 0, everything, err)
		}
	case 3:
		c.did("slot moved")
		c.moveSlot(ctx)
	case 4:
		c.did("restarted")
		c.servers[i].Kill()
		c.servers[i].Restart(c.t)
		c.truth.did(began, 0, everything, nil)
	default: // more often: most of the others lose keys
		c.did("filled")
		c.fill(ctx)
	}
}

func (c *chaos) did(what string) { c.done[what]++ }

// mend ends what lasts.
func (c *chaos) mend() {
	for i, end := range c.down {
		began := time.Now()
		end(c.servers[i], c.t)
		c.truth.did(began, 0, everything, nil)
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
		began := time.Now()
		err = from.client.Do(ctx, arguments...).Err()
		c.truth.did(began, int64(len(names)), int64(len(names)), err)
		if err != nil {
			break
		}
	}
	for _, p := range []*primary{to, from} {
		_ = p.client.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.id).Err()
	}
}

// write adds and removes keys until ctx ends; errors are part of the game. It
// rests now and then, so that some sweeps meet keys that nobody changes.
func (c *chaos) write(ctx context.Context, client *redis.ClusterClient) {
	const batch, batches, rest = 20, 40, 8 * time.Second
	for i := 0; ctx.Err() == nil; i++ {
		pipe := client.Pipeline()
		for j := range batch {
			name := fmt.Sprintf("limit:more:%d", i/2*batch+j)
			if i%2 == 0 {
				pipe.Set(ctx, name, 1, time.Duration(j%2)*time.Hour)
			} else {
				pipe.Del(ctx, name)
			}
		}
		began := time.Now()
		_, err := pipe.Exec(ctx)
		c.truth.did(began, batch, batch, err)
		pause := 50 * time.Millisecond
		if i%batches == batches-1 {
			pause = rest
		}
		_ = sleep(ctx, pause)
	}
}

// fill brings back the keys that were lost.
func (c *chaos) fill(ctx context.Context) {
	pipe := c.whole.Pipeline()
	for i := range chaosKeys {
		pipe.Set(ctx, redistest.Limit(i), 1, time.Duration(i%10)*time.Hour)
		if pipe.Len() == 1000 {
			began := time.Now()
			_, err := pipe.Exec(ctx)
			c.truth.did(began, 1000, 0, err)
		}
	}
}

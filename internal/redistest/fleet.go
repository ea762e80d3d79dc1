// This file owns what a test's Cluster holds: how many keys, and how they get
// there.

package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// fleetEnv says how many keys a Cluster of a test has.
	fleetEnv     = "TEST_KEYHEALTH_FLEET_KEYS"
	fleetDefault = 30_000
)

// FleetKeys is how many keys a Cluster of a test is to have: a multiple of 10.
func FleetKeys(t testing.TB) int {
	t.Helper()
	text := os.Getenv(fleetEnv)
	if text == "" {
		return fleetDefault
	}
	keys, err := strconv.Atoi(text)
	if err != nil || keys < 1000 || keys%10 != 0 {
		t.Fatalf("%s must be a multiple of 10, from 1000 on", fleetEnv)
	}
	return keys
}

// Fill writes keys through the Cluster's own client, named by name: a tenth of
// them have no TTL, the others one of an hour. It returns when the replicas have
// them too: the first commands may reach a new replica a second late.
func (c *Cluster) Fill(t testing.TB, keys int, name func(i int) string) {
	t.Helper()
	pipe := c.Client(t).Pipeline()
	for i := range keys {
		ttl := time.Hour
		if i%10 == 0 {
			ttl = 0
		}
		pipe.Set(t.Context(), name(i), 1, ttl)
		if pipe.Len() == 1000 || i == keys-1 {
			if _, err := pipe.Exec(t.Context()); err != nil {
				t.Fatalf("redistest: fill the cluster: %v", err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), clusterDeadline)
	defer cancel()
	for i, s := range c.Replicas {
		primary, replica := c.Nodes[i].Client(t), s.Client(t)
		if err := poll(ctx, func() (bool, error) {
			want, err := primary.DBSize(ctx).Result()
			have, err2 := replica.DBSize(ctx).Result()
			return want == have, errors.Join(err, err2)
		}); err != nil {
			t.Fatalf("redistest: fill replica %d of the cluster: %v", i, err)
		}
	}
}

// Limit is the name of the i-th key of a group limit:*.
func Limit(i int) string { return fmt.Sprintf("limit:%d", i) }

// Overwrite keeps a Cluster that was filled busy until ctx ends, without changing
// how many keys there are nor which of them have no TTL. Errors are passed over: a
// failover brings some.
func Overwrite(ctx context.Context, client *redis.ClusterClient, keys int, name func(i int) string) {
	for i := 0; ctx.Err() == nil; i++ {
		if i%10 != 0 {
			_ = client.Set(ctx, name(i%keys), 1, time.Hour).Err()
		}
	}
}

// IsPrimary says whether the server behind a client says so of itself.
func IsPrimary(ctx context.Context, client *redis.Client) bool {
	role, err := client.Do(ctx, "ROLE").Slice()
	return err == nil && len(role) > 0 && role[0] == "master"
}

// This file owns the servers of the failover test. That a replica lacks the last
// writes is forced: its connection to the primary is ended while it is frozen, so
// that it can neither read on nor connect anew.

package limiter

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
	"keyhealth/limiter/internal/limitertest"
)

// syncAtOnce has a primary not wait for more replicas.
var syncAtOnce = []string{"--repl-diskless-sync-delay", "0"}

// failover is a primary, its replica, and a client that finds whichever serves.
type failover struct {
	primary, replica *redistest.Server
	client           redis.UniversalClient
	promote          func() error
}

// ofReplication: an address that follows, as that of a proxy or in DNS does.
func ofReplication(t *testing.T, binary string) *failover {
	f := &failover{primary: redistest.StartBinary(t, binary, syncAtOnce...)}
	f.replica = redistest.StartBinary(t, binary)
	if err := f.replica.Client(t).ReplicaOf(t.Context(), f.primary.Host(), fmt.Sprint(f.primary.Port())).Err(); err != nil {
		t.Fatal(err)
	}
	var serves atomic.Pointer[redistest.Server]
	serves.Store(f.primary)
	f.client = f.primary.Client(t, limitertest.Patient, func(o *redis.Options) {
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, serves.Load().Addr())
		}
	})
	f.promote = func() error {
		serves.Store(f.replica)
		return f.replica.Client(t).ReplicaOf(t.Context(), "NO", "ONE").Err()
	}
	return f
}

// ofCluster: the replica takes the slots of its primary, and go-redis finds out.
func ofCluster(t *testing.T, binary string) *failover {
	c := redistest.StartClusterBinary(t, binary, 2, syncAtOnce...)
	c.AddReplicas(t)
	f := &failover{client: redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                      []string{c.Nodes[0].Addr(), c.Nodes[1].Addr()},
		ClusterStateReloadInterval: 100 * time.Millisecond, // a primary that is gone is looked for only then
		DialerRetries:              1,
	})}
	t.Cleanup(func() { _ = f.client.Close() })
	slot := f.client.ClusterKeySlot(t.Context(), "{alice}").Val()
	for i, node := range c.Nodes {
		if node == c.Node(int(slot)) {
			f.primary, f.replica = node, c.Replicas[i]
		}
	}
	f.promote = func() error {
		return f.replica.Client(t).Do(t.Context(), "CLUSTER", "FAILOVER", "TAKEOVER").Err()
	}
	return f
}

// until waits for a field of INFO replication.
func until(t *testing.T, s *redistest.Server, field string) {
	t.Helper()
	c := s.Client(t)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(c.Info(t.Context(), "replication").Val(), field+"\r\n"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s never said %s", s.Addr(), field)
		}
	}
}

// cut ends replication, after all that was written so far has arrived.
func (f *failover) cut(t *testing.T) {
	t.Helper()
	c := f.primary.Client(t).Conn() // WAIT waits for the writes of its connection, and so for those before
	defer func() { _ = c.Close() }()
	if err := c.Set(t.Context(), "{alice}", 1, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Do(t.Context(), "WAIT", 1, 0).Int(); err != nil || n != 1 {
		t.Fatalf("%d replicas have it, %v", n, err)
	}
	f.replica.Freeze(t)
	if err := c.ClientKillByFilter(t.Context(), "TYPE", "replica").Err(); err != nil {
		t.Fatal(err)
	}
	until(t, f.primary, "connected_slaves:0")
}

func (f *failover) over(t *testing.T) {
	t.Helper()
	f.primary.Kill()
	f.replica.Thaw(t)
	if err := f.promote(); err != nil {
		t.Fatal(err)
	}
	until(t, f.replica, "role:master")
}

// follow waits until the client has found the new primary, on which nothing is
// called for that.
func (f *failover) follow(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); f.client.Get(t.Context(), "{alice}").Err() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the client never found %s", f.replica.Addr())
		}
	}
}

// checkTTLs looks at the keys of a limiter, where they are.
func (f *failover) checkTTLs(t *testing.T, l *Limiter) {
	t.Helper()
	keys, err := l.Keys("alice")
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if ttl, err := f.client.PTTL(t.Context(), key).Result(); err != nil || ttl != limitertest.Gone && (ttl <= 0 || ttl > l.windows[i].ttl) {
			t.Errorf("%s has the TTL %v, %v", key, ttl, err)
		}
	}
}

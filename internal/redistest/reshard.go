// This file owns what an administrator does to a test's Cluster: nodes come and
// go, and slots move between them with their keys.

package redistest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Mover moves slots between primaries. Its methods are called by one goroutine.
type Mover struct {
	servers []*Server
	clients map[*Server]*redis.Client
	ids     map[*Server]string
}

// NewMover prepares to move slots between servers, which must be all primaries.
// options change its clients.
func NewMover(t testing.TB, servers []*Server, options ...func(*redis.Options)) *Mover {
	t.Helper()
	m := &Mover{servers: servers, clients: map[*Server]*redis.Client{}, ids: map[*Server]string{}}
	for _, s := range servers {
		m.clients[s] = s.Client(t, options...)
		id, err := m.clients[s].Do(t.Context(), "CLUSTER", "MYID").Text()
		if err != nil {
			t.Fatalf("redistest: CLUSTER MYID of %s: %v", s.Addr(), err)
		}
		m.ids[s] = id
	}
	return m
}

// Begin opens a slot: from is left (ASK), to is entered.
func (m *Mover) Begin(ctx context.Context, slot int, from, to *Server) error {
	if err := m.setSlot(ctx, to, slot, "IMPORTING", m.ids[from]); err != nil {
		return err
	}
	return m.setSlot(ctx, from, slot, "MIGRATING", m.ids[to])
}

// Keys moves at most so many keys of a slot that is open, and says how many.
func (m *Mover) Keys(ctx context.Context, slot int, from, to *Server, most int) (int, error) {
	names, err := m.clients[from].ClusterGetKeysInSlot(ctx, slot, most).Result()
	if err != nil || len(names) == 0 {
		return 0, err
	}
	arguments := []any{"MIGRATE", to.Host(), strconv.Itoa(to.Port()), "", 0, 5000, "KEYS"}
	for _, name := range names {
		arguments = append(arguments, name)
	}
	if err := m.clients[from].Do(ctx, arguments...).Err(); err != nil {
		return 0, fmt.Errorf("MIGRATE: %w", err)
	}
	return len(names), nil
}

// End gives a slot to its new owner, and tells the others. One that has lost its
// last slot may be a replica of the new owner by then.
func (m *Mover) End(ctx context.Context, slot int, to *Server) error {
	if err := m.setSlot(ctx, to, slot, "NODE", m.ids[to]); err != nil {
		return err
	}
	for _, s := range m.servers {
		err := m.setSlot(ctx, s, slot, "NODE", m.ids[to])
		if s != to && err != nil && !strings.Contains(err.Error(), "only with masters") {
			return err
		}
	}
	return nil
}

func (m *Mover) setSlot(ctx context.Context, at *Server, slot int, state, id string) error {
	if err := m.clients[at].Do(ctx, "CLUSTER", "SETSLOT", slot, state, id).Err(); err != nil {
		return fmt.Errorf("CLUSTER SETSLOT %d %s: %w", slot, state, err)
	}
	return nil
}

// AddNode starts a node without slots, makes it one of the Cluster, and returns
// when every primary knows it. It is not one of c.Nodes.
func (c *Cluster) AddNode(t testing.TB) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clusterDeadline)
	defer cancel()
	added := StartBinary(t, c.binary, c.args...)
	first := c.Nodes[0]
	if err := added.Client(t).ClusterMeet(ctx, first.Host(), fmt.Sprint(first.Port())).Err(); err != nil {
		t.Fatalf("redistest: CLUSTER MEET: %v", err)
	}
	for _, s := range append([]*Server{added}, c.Nodes...) {
		if err := waitComplete(ctx, s.Client(t), len(c.Nodes)+len(c.Replicas)+1); err != nil {
			t.Fatalf("redistest: a node is added: %s: %v", s.Addr(), err)
		}
	}
	return added
}

// RemoveNode makes a node that has no slots a stranger to the Cluster's primaries.
func (c *Cluster) RemoveNode(t testing.TB, removed *Server) {
	t.Helper()
	client := removed.Client(t)
	id, err := client.Do(t.Context(), "CLUSTER", "MYID").Text()
	if err != nil {
		t.Fatalf("redistest: CLUSTER MYID: %v", err)
	}
	for _, s := range c.Nodes {
		if err := s.Client(t).ClusterForget(t.Context(), id).Err(); err != nil {
			t.Fatalf("redistest: CLUSTER FORGET at %s: %v", s.Addr(), err)
		}
	}
	if err := client.ClusterResetSoft(t.Context()).Err(); err != nil {
		t.Fatalf("redistest: CLUSTER RESET: %v", err)
	}
}

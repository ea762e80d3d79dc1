package collector

import (
	"context"
	"time"
)

// The answers of PTTL that are no time, and our own for a refusal.
const (
	ttlNone    = -1 // the key has no TTL
	ttlGone    = -2 // there is no such key (any more)
	ttlRefused = -3 // the server's ACL keeps the key from us
)

// node is one Redis server, as the sweep sees it.
type node interface {
	name() string
	// connect opens a connection that is closed when ctx ends.
	connect(ctx context.Context) (conn, error)
}

// conn is a dedicated connection. Its errors are Failures. It is used by one
// goroutine.
type conn interface {
	valueConn
	ping(ctx context.Context) (time.Duration, error)
	now(ctx context.Context) (time.Time, error)
	info(ctx context.Context) (Info, error)
	selectDB(ctx context.Context, db int) error
	// scan sends one SCAN a cursor in one write.
	scan(ctx context.Context, cursors []uint64, count int) ([]page, error)
	// ttls sends the PTTL of each name in one write: milliseconds or a ttl constant.
	ttls(ctx context.Context, names []string) ([]int64, error)
	// memory sends the MEMORY USAGE of each name in one write: bytes or a ttl constant.
	memory(ctx context.Context, names []string) ([]int64, error)
	// clusterNodes asks a node of a Cluster for CLUSTER NODES.
	clusterNodes(ctx context.Context) (string, error)
	// slotCounts sends one CLUSTER COUNTKEYSINSLOT a slot in one write.
	slotCounts(ctx context.Context, slots []int) ([]int64, error)
	// readonly lets a replica of a Cluster answer for its keys.
	readonly(ctx context.Context) error
	// sentinelServers asks a Sentinel for the addresses of a set's servers.
	sentinelServers(ctx context.Context, master string) (primary string, replicas []string, err error)
	close()
}

// page is what one SCAN returned.
type page struct {
	next  uint64 // 0: the end of the round
	names []string
}

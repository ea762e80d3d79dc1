package source

import (
	"context"
	"time"
)

// The answers of PTTL that are no time, and our own for a refusal.
const (
	TTLNone    = -1 // the key has no TTL
	TTLGone    = -2 // there is no such key (any more)
	TTLRefused = -3 // the server's ACL keeps the key from us
)

// Node is one Redis server, as the sweep sees it.
type Node interface {
	Name() string
	// Connect opens a connection that is closed when ctx ends.
	Connect(ctx context.Context) (Conn, error)
}

// Conn is a dedicated connection. Its errors are Failures. It is used by one
// goroutine.
type Conn interface {
	ValueConn
	Ping(ctx context.Context) (time.Duration, error)
	Now(ctx context.Context) (time.Time, error)
	Info(ctx context.Context) (Info, error)
	Select(ctx context.Context, db int) error
	// Scan sends one SCAN a cursor in one write.
	Scan(ctx context.Context, cursors []uint64, count int) ([]Page, error)
	// TTLs sends the PTTL of each name in one write: milliseconds or a TTL constant.
	TTLs(ctx context.Context, names []string) ([]int64, error)
	// Memory sends the MEMORY USAGE of each name in one write: bytes or a TTL constant.
	Memory(ctx context.Context, names []string) ([]int64, error)
	// ClusterNodes asks a node of a Cluster for CLUSTER NODES.
	ClusterNodes(ctx context.Context) (string, error)
	// SlotCounts sends one CLUSTER COUNTKEYSINSLOT a slot in one write.
	SlotCounts(ctx context.Context, slots []int) ([]int64, error)
	// ReadOnly lets a replica of a Cluster answer for its keys.
	ReadOnly(ctx context.Context) error
	// SentinelServers asks a Sentinel for the addresses of a set's servers.
	SentinelServers(ctx context.Context, master string) (primary string, replicas []string, err error)
	Close()
}

// Page is what one SCAN returned.
type Page struct {
	Next  uint64 // 0: the end of the round
	Names []string
}

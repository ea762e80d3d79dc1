package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// SentinelMaster is the name of the set that a test's Sentinel watches.
const SentinelMaster = "shop"

// StartReplica starts a replica of a server and returns when it is in sync.
func StartReplica(t testing.TB, of *Server, args ...string) *Server {
	t.Helper()
	args = append([]string{"--replicaof", fmt.Sprintf("%s %d", of.Host(), of.Port())}, args...)
	if password := of.password(); password != "" {
		args = append(args, "--masterauth", password)
	}
	replica := Start(t, args...)
	ctx, cancel := context.WithTimeout(t.Context(), clusterDeadline)
	defer cancel()
	if err := waitField(ctx, replica.Client(t), "replication", "master_link_status:up"); err != nil {
		t.Fatalf("redistest: %s never was in sync: %v", replica.Addr(), err)
	}
	return replica
}

// StartSentinel starts a Sentinel that watches a server and its replicas, fails
// over a second after the server has gone, and returns when it knows so many
// replicas. args are appended to its command line.
func StartSentinel(t testing.TB, of *Server, replicas int, args ...string) *Server {
	t.Helper()
	text := fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]d 1\nsentinel down-after-milliseconds %[1]s 1000\nsentinel failover-timeout %[1]s 5000\n",
		SentinelMaster, of.Host(), of.Port())
	if password := of.password(); password != "" {
		text += fmt.Sprintf("sentinel auth-pass %s %s\n", SentinelMaster, password)
	}
	file := filepath.Join(t.TempDir(), "sentinel.conf") // rewritten by the Sentinel
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := Start(t, append([]string{file, "--sentinel"}, args...)...)
	ctx, cancel := context.WithTimeout(t.Context(), clusterDeadline)
	defer cancel()
	if err := waitField(ctx, sentinel.Client(t), "sentinel", fmt.Sprintf("slaves=%d", replicas)); err != nil {
		t.Fatalf("redistest: the Sentinel never knew %d replicas: %v", replicas, err)
	}
	return sentinel
}

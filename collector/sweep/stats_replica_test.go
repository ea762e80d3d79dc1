// Keys that have expired and are not reclaimed: INFO counts them, SCAN does not
// show them. On a replica of a master that reclaims none they stay.

package sweep

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/estimate"
	"keyhealth/collector/source"
	"keyhealth/internal/redistest"
)

// lazyPair is a master that reclaims no expired key, and its replica.
func lazyPair(t *testing.T) (master, replica *redistest.Server) {
	t.Helper()
	master = redistest.Start(t, "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0")
	if err := master.Client(t).Do(t.Context(), "DEBUG", "SET-ACTIVE-EXPIRE", "0").Err(); err != nil {
		t.Fatal(err)
	}
	replica = redistest.Start(t, "--replicaof", master.Host()+" "+fmt.Sprint(master.Port()))
	inStep(t, master, replica)
	return master, replica
}

// inStep waits until the replica holds what the master does.
func inStep(t *testing.T, master, replica *redistest.Server) {
	t.Helper()
	from, to := master.Client(t), replica.Client(t)
	defer func() { _, _ = from.Close(), to.Close() }()
	deadline := time.Now().Add(time.Minute)
	for {
		a, b := field(t, from.Info(t.Context()).Val(), "master_repl_offset"), to.Info(t.Context()).Val()
		if field(t, b, "master_link_status") == "up" && field(t, b, "slave_repl_offset") >= a && len(field(t, b, "slave_repl_offset")) >= len(a) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the replica does not catch up: %s", b)
		}
		if err := sleep(context.Background(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func field(t *testing.T, info, name string) string {
	t.Helper()
	_, rest, _ := strings.Cut(info, name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// withExpired makes 30 % of INFO's keys expired ones, in the same share of each
// group's keys with TTL and of the rest's.
func withExpired(crowds []crowd) []crowd {
	all := make([]crowd, len(crowds))
	for i, c := range crowds {
		c.expired = c.keys * 3 / 7
		all[i] = c
	}
	return all
}

func TestStatsExpired(t *testing.T) {
	keyspaces, sweeps, turns := 1, 40, 1
	if inFull() {
		keyspaces, sweeps, turns = 10, 100, 3
	}
	master, replica := lazyPair(t)
	var cells []*cell
	var garbage moments
	for _, crowds := range fills()[3-turns:] {
		crowds = withExpired(crowds)
		target := crowdTarget(t, replica.Addr(), crowds, 10_000)
		cells = append(cells, repetition{
			target: target, nodes: []source.Node{serverOf(target)}, crowds: crowds,
			fill: func(salt int) {
				fillCrowds(t, master, salt, crowds)
				inStep(t, master, replica)
			},
			keyspaces: keyspaces, sweeps: sweeps,
			look: func(result *Result) { garbage.add(*estimate.Unreclaimed(result.Databases[0])) },
		}.run(t)...)
	}
	t.Logf("unreclaimed ratio %.4f +- %.4f\n%s", garbage.mean(), math.Sqrt(garbage.variance()), table(cells))
	if math.Abs(garbage.mean()-0.3) > 0.01 {
		t.Errorf("the unreclaimed ratio is %.4f, not 0.3", garbage.mean())
	}
	wantAll(t, cells, chances())
}

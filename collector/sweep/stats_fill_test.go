// The keyspace of the repetition tests: groups of known size and share without
// TTL on a real Redis, and a sweeper that loses no time on it. What is counted
// of its sweeps is in stats_cell_test.go.

package sweep

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// statsEnv, when not empty, asks for the repetition tests in full: `make stats`.
const statsEnv = "TEST_KEYHEALTH_STATS"

// inFull says whether the tests run in full, and not the part that CI runs.
func inFull() bool { return os.Getenv(statsEnv) != "" }

// TestStatsMeasurements runs what measures rather than tests, where it is asked
// for.
func TestStatsMeasurements(t *testing.T) {
	if !inFull() {
		return
	}
	for name, measure := range map[string]func(*testing.T){
		"Alert":     measureAlert,
		"Breathing": measureBreathing,
		"Pooling":   measurePooling,
		"TwoThirds": measureTwoThirds,
	} {
		t.Run(name, measure)
	}
}

// crowd is a group of the keyspace; its keys are named name:salt:kind:number.
type crowd struct {
	name    string
	keys    int
	zombies int // without TTL for good
	flicker int // without TTL at the first look only
	expired int // beside the keys: INFO counts them, nobody sees them
	tagged  int // keys that share a hash tag, in a Cluster; 0: no tags
}

func (c crowd) without() int { return c.zombies + c.flicker }

const fillLua = `
local name, salt, keys, zombies, without, expired = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
for i = 1, expired do
	redis.call('SET', name .. ':' .. salt .. ':expired:' .. i, '7', 'PX', 1)
end
for i = 1, keys do
	if i <= zombies then
		redis.call('SET', name .. ':' .. salt .. ':zombie:' .. i, '7')
	elseif i <= without then
		redis.call('SET', name .. ':' .. salt .. ':flicker:' .. i, '7')
	else
		redis.call('SET', name .. ':' .. salt .. ':fine:' .. i, '7', 'PX', 36000000 + i)
	end
end`

// fillCrowds empties the server and fills it. Another salt puts the keys of the
// same groups elsewhere in SCAN's order.
func fillCrowds(t testing.TB, s *redistest.Server, salt int, crowds []crowd) {
	t.Helper()
	redistest.Fill(t, s, `redis.call('FLUSHALL')`)
	for _, c := range crowds {
		redistest.Fill(t, s, fillLua, c.name, salt, c.keys, c.zombies, c.without(), c.expired)
	}
}

// crowdTarget has a rule for each crowd but those named rest, and spends its
// time on the keyspace alone.
func crowdTarget(t testing.TB, address string, crowds []crowd, budget int64) spec.Target {
	t.Helper()
	var rules []string
	for _, c := range crowds {
		if c.name != "rest" {
			rules = append(rules, fmt.Sprintf("%s=%s:*@12h", c.name, c.name))
		}
	}
	target := sampledTarget(t, strings.Join(rules, ","), budget)
	target.Endpoint = spec.Endpoint{Network: "tcp", Address: address, Timeout: time.Minute}
	target.Sweep.Duty, target.Sweep.ScanCount, target.Sweep.Interval = 1, 1000, time.Hour
	target.Sweep.BigKeys.Budget, target.Sweep.Pool = 0, 1
	return target
}

// hasty is a sweeper whose second looks come at once.
func hasty(target spec.Target, n source.Node, seed uint64) *sweeper {
	s := newSweeper(target, n, seed)
	s.delays = lookDelays{0, 1}
	return s
}

// flickering is a node whose keys named flicker have a TTL at the second look.
type flickering struct{ source.Node }

func (n flickering) Connect(ctx context.Context) (source.Conn, error) {
	c, err := n.Node.Connect(ctx)
	return &flickeringConn{Conn: c}, err
}

type flickeringConn struct {
	source.Conn
	infos int // the second one comes between the first looks and the second
}

func (c *flickeringConn) Info(ctx context.Context) (source.Info, error) {
	c.infos++
	return c.Conn.Info(ctx)
}

func (c *flickeringConn) TTLs(ctx context.Context, names []string) ([]int64, error) {
	ttls, err := c.Conn.TTLs(ctx, names)
	for i, name := range names {
		if err == nil && c.infos == 2 && strings.Contains(name, ":flicker:") {
			ttls[i] = 60_000
		}
	}
	return ttls, err
}

// serverOf is the node of a test's server.
func serverOf(target spec.Target) source.Node {
	return flickering{source.NewServer(target.Endpoint, target.Endpoint.Address, source.NewCommandCounts())}
}

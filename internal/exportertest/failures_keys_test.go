// The cases of failures_test.go in a Cluster, and those in which the keyspace changes
// under a sweep, which is no failure.

package exportertest

import (
	"fmt"
	"time"

	"keyhealth/internal/redistest"
)

var clusterFailures = []failure{
	{name: "cluster_down", begin: func(s *stage) {
		clusterShop(1)(s)
		s.settings["MEMORY_SAMPLES"], s.settings["BIG_KEY_BUDGET"] = "0", "0" // PTTL is what fails, whenever it comes
	}, acts: []act{
		well,
		{name: "a slot is not covered", do: func(s *stage) { s.send("CLUSTER", "DELSLOTS", "0") }, ends: fails},
		again(func(s *stage) { s.send("CLUSTER", "ADDSLOTS", "0") }),
	}},
	{name: "cluster_node_down", begin: func(s *stage) {
		clusterShop(3, "--cluster-require-full-coverage", "no")(s)
		s.vague = true // there is no proxy that knows when the node is idle
	}, acts: []act{
		well,
		{name: "one of three nodes is killed", do: func(s *stage) { s.cluster.Nodes[2].Kill() }, ends: fails},
	}},
	{name: "cluster_database", begin: func(s *stage) {
		clusterShop(1)(s)
		s.settings["REDIS_URL"] += "/3"
	}, acts: []act{{name: "database 3 of a Cluster", ends: fails}}},
}

// clusterShop starts a Cluster with a few keys.
func clusterShop(nodes int, args ...string) func(*stage) {
	return func(s *stage) {
		s.cluster = redistest.StartCluster(s.T, nodes, args...)
		s.server = s.cluster.Nodes[0]
		s.client = s.server.Client(s.T)
		s.settings["REDIS_URL"] = s.server.URL()
		s.fillCluster()
	}
}

// fillCluster sets the keys of shopKeys, each on the node that has its slot.
func (s *stage) fillCluster() {
	s.Helper()
	pipe := s.cluster.Client(s.T).Pipeline()
	for i := range 100 {
		pipe.Set(s.Context(), fmt.Sprint("limit:alice", i), "SECRET", 3000*time.Second)
	}
	for i := range 20 {
		pipe.Set(s.Context(), fmt.Sprint("page:", i), "SECRET", 0)
	}
	if _, err := pipe.Exec(s.Context()); err != nil {
		s.Fatal(err)
	}
}

var keyspaceChanges = []failure{
	{name: "flushall_in_mid_sweep", begin: shop(), acts: []act{
		well,
		{name: "all keys are deleted between SCAN and PTTL: the groups of rules stay, at 0", do: func(s *stage) {
			s.proxy.Before("pttl", func() { s.send("FLUSHALL") })
		}, ends: succeeds, when: keysAre(0)},
	}},
	{name: "swapdb_in_mid_sweep", begin: func(s *stage) {
		shop()(s)
		redistest.Fill(s.T, s.server, `redis.call('SELECT', 1); for i = 1, 7 do redis.call('SET', 'limit:alice' .. i, 1, 'EX', 3000) end`)
	}, acts: []act{
		well,
		{name: "two databases change places between SCAN and PTTL", do: func(s *stage) {
			s.proxy.Before("pttl", func() { s.send("SWAPDB", "0", "1") })
		}, ends: succeeds, when: keysAre(7)},
	}},
}

// keysAre waits for so many keys in database 0.
func keysAre(n float64) func(m Metrics) bool {
	return func(m Metrics) bool {
		values := m.Values("keyhealth_keys", "db=0")
		return len(values) == 1 && values[0] == n
	}
}

package collector

import "errors"

// nodeOf is the node of a target; Cluster and Sentinel sets are not followed
// yet.
func nodeOf(target Target, sent *commandCounts) node {
	return newRedisServer(target.Endpoint, sent)
}

// checkMode refuses what would be counted wrongly: one node of a Cluster is
// not its whole keyspace, and a Sentinel has none.
func checkMode(info Info) error {
	switch info.Mode() {
	case "cluster":
		return &Failure{Reason: ReasonCluster, Err: errors.New("the address is a node of a Redis Cluster, which this version does not follow")}
	case "sentinel":
		return &Failure{Reason: ReasonRefused, Err: errors.New("the address is a Sentinel, which holds no keys: give the address of the Redis server")}
	}
	if info.Text("master_sync_in_progress") == "1" {
		return &Failure{Reason: ReasonLoading, Err: errors.New("the replica is still receiving its master's keys")}
	}
	return nil
}

package collector

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// nodeOf is the node of a target; Cluster and Sentinel sets are not followed
// yet.
func nodeOf(target Target, sent *commandCounts) node {
	return newRedisServer(target.Endpoint, sent)
}

// checkMode refuses what would be counted wrongly: one node of a Cluster is
// not its whole keyspace, unless it is swept as a part of it, and a Sentinel has
// none.
func checkMode(info Info, inCluster bool) error {
	switch info.Mode() {
	case "cluster":
		if inCluster {
			break
		}
		return &Failure{Reason: ReasonCluster, Err: errors.New("the address is a node of a Redis Cluster, which this version does not follow")}
	case "sentinel":
		return &Failure{Reason: ReasonRefused, Err: errors.New("the address is a Sentinel, which holds no keys: give the address of the Redis server")}
	}
	if info.Text("master_sync_in_progress") == "1" {
		return &Failure{Reason: ReasonLoading, Err: errors.New("the replica is still receiving its master's keys")}
	}
	return nil
}

// ownSlots are the slots whose keys may be on the node that answered CLUSTER
// NODES, ascending: its own ones or, of a replica, its master's, and those that
// are on their way to it.
func ownSlots(nodes string) []int {
	lines := map[string][]string{} // by the node's id
	var id string
	for text := range strings.Lines(nodes) {
		fields := strings.Fields(text)
		if len(fields) < 8 {
			continue
		}
		lines[fields[0]] = fields
		if flags := strings.Split(fields[2], ","); slices.Contains(flags, "myself") {
			id = fields[0]
			if slices.Contains(flags, "slave") {
				id = fields[3]
			}
		}
	}
	if lines[id] == nil {
		return nil
	}
	var slots []int
	for _, field := range lines[id][8:] {
		first, last := slotRange(field)
		for slot := first; slot <= last; slot++ {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// slotRange reads "5", "5-9" or "[5-<-id]", a slot on its way to the node; of
// anything else the last slot is below the first.
func slotRange(field string) (first, last int) {
	from, to, ranges := strings.Cut(field, "-")
	if slot, moving := strings.CutPrefix(from, "["); moving {
		from, to, ranges = slot, slot, strings.HasPrefix(to, "<-")
		if !ranges {
			return 0, -1
		}
	}
	if !ranges {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if errors.Join(err, err2) != nil || first < 0 || last >= slotNumber {
		return 0, -1
	}
	return first, last
}

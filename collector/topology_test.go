package collector

import (
	"slices"
	"testing"
)

func TestOwnSlots(t *testing.T) {
	const others = "aaa 10.0.0.2:6379@16379,host-2 master - 0 1 2 connected 10-16383\n" +
		"bbb 10.0.0.3:6379@16379 slave aaa 0 1 2 connected\n"
	for name, test := range map[string]struct {
		nodes string
		want  []int
	}{
		"ranges and single slots": {"ccc :0@0 myself,master - 0 0 1 connected 7 0-2 9\n" + others, []int{0, 1, 2, 7, 9}},
		"a replica":               {"ccc 10.0.0.1:6379@16379 myself,slave ddd 0 0 1 connected\r\nddd 10.0.0.4:6379@16379 master - 0 0 1 connected 4-5\r\n" + others, []int{4, 5}},
		"slots on their way here": {others + "ccc 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 3 [4->-aaa] [8-<-aaa]\n", []int{3, 8}},
		"no slots":                {"ccc 10.0.0.1:6379@16379 myself,master - 0 0 1 connected\n" + others, nil},
		"a replica of nobody":     {"ccc 10.0.0.1:6379@16379 myself,slave eee 0 0 1 connected\n" + others, nil},
		"nobody is myself":        {others, nil},
		"nonsense":                {"ccc a myself - 0 0 1 connected 5-x -3 16384 4-16384 9-7 [ [- [5-<- 99999999999999999999 6\n\n  \nx", []int{5, 6}},
		"nothing":                 {"", nil},
	} {
		if got := ownSlots(test.nodes); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestNodeOfACluster: one node is not the whole keyspace, unless it is swept as a
// part of it.
func TestNodeOfACluster(t *testing.T) {
	cluster := ParseInfo("# Server\r\nredis_mode:cluster\r\n")
	alone, member := &sweeper{}, &sweeper{inCluster: true}
	if err := alone.checkMode(cluster); reasonOf(err) != ReasonCluster {
		t.Errorf("a node of a Cluster by itself: %v", err)
	}
	if err := member.checkMode(cluster); err != nil {
		t.Errorf("a node of a Cluster as a part of it: %v", err)
	}
	if member.checkMode(ParseInfo("# Server\r\nredis_mode:sentinel\r\n")) == nil ||
		member.checkMode(ParseInfo("# Server\r\nredis_mode:cluster\r\n# Replication\r\nmaster_sync_in_progress:1\r\n")) == nil {
		t.Error("as a part of a Cluster anything goes")
	}
	for databases, want := range map[int]string{0: "", 3: hintDatabase0} {
		target := targetOf(t, "")
		target.Databases = []int{databases}
		if err := (&sweeper{target: target, inCluster: true}).checkMode(cluster); (err == nil) != (want == "") || err != nil && hintOf(err) != want {
			t.Errorf("database %d of a Cluster: %v", databases, err)
		}
	}
	if newSweeper(targetOf(t, ""), newFakeNode(t), 1).inCluster {
		t.Error("a sweeper takes its node for a part of a Cluster")
	}
}

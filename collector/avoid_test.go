package collector

import (
	"testing"
	"time"
)

// TestAvoidance: a replica that cannot be reached costs one dial, then is left
// alone for longer and longer, and is taken again once it answers.
func TestAvoidance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		primary, replica := newFakeNode(t), newFakeNode(t)
		primary.label, replica.label = "primary:1", "replica:1"
		for _, n := range []*fakeNode{primary, replica} {
			n.put(0, "limit:%d", 100, time.Hour)
		}
		replica.say("role", "slave")
		for i, section := range replica.sections {
			if section.name == "Replication" {
				replica.sections[i].fields = append(section.fields, "master_link_status:up")
			}
		}
		target := targetOf(t, "limit=limit:*@1h")
		target.Replicas = true
		f := newFleet(target, nil, 1)
		sh := shard{id: "x", primary: primary, replicas: []node{replica}}
		round := func() (swept string) {
			for _, v := range f.visit(t.Context(), []shard{sh}, func(greeting) {}) {
				if v.result != nil {
					swept = v.node
				}
			}
			return swept
		}
		if on := round(); on != "replica:1" {
			t.Fatalf("swept on %q", on)
		}
		replica.script(failOn("connect", cutError()))
		var dialled []int
		for i := range 16 {
			replica.forget()
			if on := round(); on != "primary:1" {
				t.Fatalf("sweep %d was on %q", i, on)
			}
			if len(replica.log("connect")) > 0 {
				dialled = append(dialled, i)
			}
		}
		if len(dialled) != 4 || dialled[0] != 0 || dialled[1] != 2 || dialled[2] != 5 || dialled[3] != 10 {
			t.Errorf("dialled in the sweeps %v, want 0, 2, 5 and 10", dialled)
		}
		replica.script(nil)
		on := ""
		for i := 0; i < 20 && on != "replica:1"; i++ {
			on = round()
		}
		if on != "replica:1" || f.avoided["replica:1"] != nil {
			t.Errorf("after it answered: swept on %q, %+v", on, f.avoided["replica:1"])
		}
	})
}

// TestReplicaOutOfSync is never swept.
func TestReplicaOutOfSync(t *testing.T) {
	bubble(t, func(t *testing.T) {
		primary, replica := newFakeNode(t), newFakeNode(t)
		primary.label, replica.label = "primary:1", "replica:1"
		replica.say("role", "slave") // and no word of a link
		target := targetOf(t, "")
		target.Replicas = true
		f := newFleet(target, nil, 1)
		visits := f.visit(t.Context(), []shard{{id: "x", primary: primary, replicas: []node{replica}}}, func(greeting) {})
		for _, v := range visits {
			if v.result != nil && v.node != "primary:1" {
				t.Errorf("%+v", v)
			}
		}
		if len(replica.log("scan")) > 0 {
			t.Error("its keys were met")
		}
	})
}

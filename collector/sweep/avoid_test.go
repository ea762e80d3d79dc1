package sweep

import (
	"context"
	"testing"
	"time"

	"keyhealth/collector/internal/fake"
	"keyhealth/collector/source"
)

// TestAvoidance: a replica that cannot be reached costs one dial, then is left
// alone for longer and longer, and is taken again once it answers.
func TestAvoidance(t *testing.T) {
	bubble(t, func(t *testing.T) {
		primary, replica := fake.NewNode(t), fake.NewNode(t)
		primary.Label, replica.Label = "primary:1", "replica:1"
		for _, n := range []*fake.Node{primary, replica} {
			n.Put(0, "limit:%d", 100, time.Hour)
		}
		replica.Say("role", "slave")
		replica.SayToo("Replication", "master_link_status:up")
		target := targetOf(t, "limit=limit:*@1h")
		target.Replicas = true
		f := NewFleet(target, nil, 1)
		sh := source.Shard{ID: "x", Primary: primary, Replicas: []source.Node{replica}}
		round := func() (swept string) {
			for _, v := range f.Visit(t.Context(), []source.Shard{sh}, func(Greeting) {}) {
				if v.Result != nil {
					swept = v.Node
				}
			}
			return swept
		}
		if on := round(); on != "replica:1" {
			t.Fatalf("swept on %q", on)
		}
		replica.Script(fake.FailOn("connect", fake.CutError()))
		var dialled []int
		for i := range 16 {
			replica.Forget()
			if on := round(); on != "primary:1" {
				t.Fatalf("sweep %d was on %q", i, on)
			}
			if len(replica.Log("connect")) > 0 {
				dialled = append(dialled, i)
			}
		}
		if len(dialled) != 4 || dialled[0] != 0 || dialled[1] != 2 || dialled[2] != 5 || dialled[3] != 10 {
			t.Errorf("dialled in the sweeps %v, want 0, 2, 5 and 10", dialled)
		}
		replica.Script(nil)
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
		primary, replica := fake.NewNode(t), fake.NewNode(t)
		primary.Label, replica.Label = "primary:1", "replica:1"
		replica.Say("role", "slave") // and no word of a link
		target := targetOf(t, "")
		target.Replicas = true
		f := NewFleet(target, nil, 1)
		visits := f.Visit(t.Context(), []source.Shard{{ID: "x", Primary: primary, Replicas: []source.Node{replica}}}, func(Greeting) {})
		for _, v := range visits {
			if v.Result != nil && v.Node != "primary:1" {
				t.Errorf("%+v", v)
			}
		}
		if len(replica.Log("scan")) > 0 {
			t.Error("its keys were met")
		}
	})
}

// TestLaggingReplica: one whose link is up, and which has not yet what its primary
// had, is waited for, and not for long.
func TestLaggingReplica(t *testing.T) {
	for name, test := range map[string]struct {
		after int // INFOs it has caught up
		swept string
	}{"a moment": {3, "replica:1"}, "for good": {1000, "primary:1"}} {
		bubble(t, func(t *testing.T) {
			primary, replica := fake.NewNode(t), fake.NewNode(t)
			primary.Label, replica.Label = "primary:1", "replica:1"
			primary.Put(0, "limit:%d", 100, time.Hour)
			replica.Say("role", "slave")
			primary.SayToo("Replication", "master_repl_offset:1000")
			replica.SayToo("Replication", "master_link_status:up", "slave_repl_offset:999")
			infos := 0
			replica.Script(func(_ context.Context, call fake.Call) error {
				if call.Command == "info" {
					if infos++; infos == test.after {
						replica.Put(0, "limit:%d", 100, time.Hour)
						replica.Say("slave_repl_offset", "1000")
					}
				}
				return nil
			})
			target := targetOf(t, "limit=limit:*@1h")
			target.Replicas = true
			f := NewFleet(target, nil, 1)
			for _, v := range f.Visit(t.Context(), []source.Shard{{ID: "x", Primary: primary, Replicas: []source.Node{replica}}}, func(Greeting) {}) {
				if v.Result != nil && (v.Node != test.swept || v.Result.Examined != 100) {
					t.Errorf("%s: %d keys were examined on %s", name, v.Result.Examined, v.Node)
				}
				if v.Err != nil && source.ReasonOf(v.Err) != source.ReasonMasterDown {
					t.Errorf("%s: %v", name, v.Err)
				}
			}
		})
	}
}

// TestLastResort: a replica that is left alone is tried all the same where the
// primary cannot be swept.
func TestLastResort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		primary, replica := fake.NewNode(t), fake.NewNode(t)
		primary.Label, replica.Label = "primary:1", "replica:1"
		replica.Put(0, "limit:%d", 100, time.Hour)
		replica.Say("role", "slave")
		replica.SayToo("Replication", "master_link_status:up")
		target := targetOf(t, "limit=limit:*@1h")
		target.Replicas = true
		f := NewFleet(target, nil, 1)
		swept := func() (on string) {
			for _, v := range f.Visit(t.Context(), []source.Shard{{ID: "x", Primary: primary, Replicas: []source.Node{replica}}}, func(Greeting) {}) {
				if v.Result != nil {
					on = v.Node
				}
			}
			return on
		}
		replica.Script(fake.FailOn("connect", fake.CutError()))
		for range 4 {
			if on := swept(); on != "primary:1" {
				t.Fatalf("swept on %q", on)
			}
		}
		replica.Script(nil)
		primary.Script(fake.FailOn("connect", fake.CutError()))
		if on := swept(); on != "replica:1" {
			t.Errorf("without the primary: swept on %q", on)
		}
	})
}

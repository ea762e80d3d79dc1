package collector

import (
	"testing"
	"time"

	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

// fillLimit makes 1000 keys, a tenth of them without TTL.
const fillLimit = `
for i = 1, 1000 do
  if i % 10 == 0 then redis.call('SET', 'limit:' .. i, 1) else redis.call('SET', 'limit:' .. i, 1, 'EX', 3600) end
end`

// TestSentinel: the set's master or a replica in sync is swept, the Sentinels are
// not, and a failover is followed.
func TestSentinel(t *testing.T) {
	master := redistest.Start(t)
	redistest.Fill(t, master, fillLimit)
	replica := redistest.StartReplica(t, master)
	sentinel := redistest.StartSentinel(t, master, 1)
	watched := func(replicas bool) *Watcher {
		target := clusterTarget(t, sentinel)
		target.Seeds = []string{"127.0.0.1:1"} // one that does not answer
		target.Sentinel, target.Replicas = &spec.Sentinel{Master: redistest.SentinelMaster}, replicas
		return running(t, target)
	}
	right := func(s *Snapshot) bool {
		g := groupOf(s.Groups, 0, "limit")
		return s.Health.Swept && len(s.Databases) == 1 && s.Databases[0].Keys == 1000 && g != nil && g.Zombies != nil && g.Zombies.Keys == 100
	}
	onMaster, onReplica := watched(false), watched(true)
	eventually(t, onMaster, "right", func(s *Snapshot) bool { return right(s) && sweptOn(s, master.Addr()) && len(s.Nodes) == 2 })
	eventually(t, onReplica, "right", func(s *Snapshot) bool { return right(s) && sweptOn(s, replica.Addr()) && len(s.Nodes) == 2 })
	master.Kill()
	for _, w := range []*Watcher{onMaster, onReplica} {
		eventually(t, w, "failed over", func(s *Snapshot) bool { return right(s) && sweptOn(s, replica.Addr()) })
	}
}

func TestSentinelRefuses(t *testing.T) {
	master := redistest.Start(t)
	redistest.StartReplica(t, master)
	sentinel := redistest.StartSentinel(t, master, 1, "--requirepass", "secret")
	for name, test := range map[string]struct {
		sentinel spec.Sentinel
		reason   string
	}{
		"another set":    {spec.Sentinel{Master: "other", Password: "secret"}, source.ReasonRefused},
		"no password":    {spec.Sentinel{Master: redistest.SentinelMaster}, source.ReasonAuth},
		"wrong password": {spec.Sentinel{Master: redistest.SentinelMaster, Password: "wrong"}, source.ReasonAuth},
	} {
		t.Run(name, func(t *testing.T) {
			target := clusterTarget(t, sentinel)
			target.Sentinel = &test.sentinel
			s := eventually(t, running(t, target), "attempted", func(s *Snapshot) bool { return s.Health.Sweeps > 0 })
			if s.Health.Failures[test.reason] == 0 || s.Health.Up || len(s.Nodes) > 0 {
				t.Errorf("%+v, nodes %+v", s.Health.Failures, s.Nodes)
			}
		})
	}
	target := clusterTarget(t, sentinel)
	target.Sentinel = &spec.Sentinel{Master: redistest.SentinelMaster, Password: "secret"}
	eventually(t, running(t, target), "swept", func(s *Snapshot) bool { return s.Health.Swept && s.Health.LastSuccess.After(time.Time{}) })
}

// Clusters and Sentinel sets that speak TLS and nothing else, to clients with a
// certificate: every node is swept, with its certificate verified, and what lies
// in files is read again without a restart.

package exportertest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

// secured is an exporter with the files it was given.
type secured struct {
	*Exporter
	authority                  *redistest.Authority
	ca, cert, key, pass, pass2 string
	read                       int // of the output
}

// files are settings with which a user is let in, once the servers know it.
func files(t *testing.T, a *redistest.Authority) (*secured, Settings) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	s := &secured{authority: a, ca: in("ca.pem"), cert: in("client.pem"), key: in("client.key"), pass: in("password"), pass2: in("sentinel")}
	a.Issue(t, s.cert, s.key)
	s.trust(t, a)
	write(t, s.pass, "one")
	write(t, s.pass2, "one")
	return s, Settings{
		"REDIS_TLS_CA_FILE": s.ca, "REDIS_TLS_CERT_FILE": s.cert, "REDIS_TLS_KEY_FILE": s.key,
		"REDIS_USERNAME": "keyhealth", "REDIS_PASSWORD_FILE": s.pass,
		"GROUPS": "limit=limit:*@1h", "SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1",
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trust makes the exporter trust an authority.
func (s *secured) trust(t *testing.T, a *redistest.Authority) {
	t.Helper()
	text, err := os.ReadFile(a.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.ca, string(text))
}

// well waits until a sweep that begins from now on meets all nodes.
func (s *secured) well(t *testing.T, nodes int) Metrics {
	t.Helper()
	ended := s.Scrape(t).Value(t, "keyhealth_sweeps_total")
	return s.Wait(t, "a whole sweep", func(m Metrics) bool {
		up := m.Values("keyhealth_node_up")
		return m.Is("keyhealth_sweep_success", "==", 1) && m.Is("keyhealth_sweeps_total", ">=", ended+2) && len(up) == nodes && !slices.Contains(up, 0)
	})
}

// fails waits until sweeps fail, and wants every new line about that to say why, and
// none to say what the one before it says. A server that wants no certificate of
// ours may be faster to hang up than to say so: which of them is chance each time.
func (s *secured) fails(t *testing.T, why string) {
	t.Helper()
	failures := s.Scrape(t).Value(t, "keyhealth_sweep_failures_total", "reason=tls")
	s.Wait(t, "sweeps that fail: "+why, func(m Metrics) bool {
		return m.Value(t, "keyhealth_sweep_failures_total", "reason=tls") >= failures+3
	})
	said, last := 0, ""
	for line := range strings.Lines(s.Output()[s.read:]) {
		switch {
		case !strings.Contains(line, "Sweep failed"):
		case strings.Contains(line, "reason=tls") && strings.Contains(line, why):
			said++
		case strings.Contains(line, "reason=unreachable") && strings.Contains(line, "the connection was lost"):
		default:
			t.Errorf("want the reason tls and %q: %s", why, line)
		}
		if _, text, _ := strings.Cut(line, " "); text == last {
			t.Errorf("said again: %s", line)
		} else {
			last = text
		}
	}
	if s.read = len(s.Output()); said < 1 {
		t.Error("no line says why sweeps fail")
	}
}

// user makes the exporter's user, or changes it, on servers.
func user(t *testing.T, servers []*redistest.Server, words ...string) {
	t.Helper()
	for _, server := range servers {
		setUser(t, server.Client(t), append([]string{"keyhealth"}, words...)...)
	}
}

var letIn = []string{"on", ">one", "~*", "+@all"}

// TestTLSOfACluster: six nodes, all by the addresses that they announce.
func TestTLSOfACluster(t *testing.T) {
	redistest.Run(t, "cluster", func(t *testing.T, binary string) {
		redistest.RequireTLS(t, binary)
		authority := redistest.NewAuthority(t)
		c := redistest.StartClusterBinary(t, binary, 3, authority.ServerArgs(t, "127.0.0.1")...)
		c.AddReplicas(t)
		keys := redistest.FleetKeys(t)
		c.Fill(t, keys, redistest.Limit)
		servers := slices.Concat(c.Nodes, c.Replicas)
		user(t, servers, letIn...)
		s, settings := files(t, authority)
		settings["REDIS_URL"] = "rediss://" + c.Nodes[0].Addr() + "," + c.Nodes[1].Addr()
		s.Exporter = Start(t, settings)
		m := s.well(t, 6)
		if m.Value(t, "keyhealth_keys") != float64(keys) || m.Value(t, "keyhealth_group_zombie_keys") != float64(keys/10) {
			t.Errorf("%v keys, %v zombies", m.Values("keyhealth_keys"), m.Values("keyhealth_group_zombie_keys"))
		}
		s.renewals(t, servers)
	})
}

// renewals changes everything that may change while the exporter runs.
func (s *secured) renewals(t *testing.T, servers []*redistest.Server) {
	t.Helper()
	nodes := len(servers)
	user(t, servers, ">two")
	write(t, s.pass, "two")
	s.well(t, nodes)
	user(t, servers, "<one")
	m := s.well(t, nodes)
	if m.Value(t, "keyhealth_sweep_failures_total", "reason=auth") != 0 {
		t.Error("the new password was not used at once")
	}
	stranger := redistest.NewAuthority(t)
	stranger.Issue(t, s.cert, s.key)
	s.fails(t, "unknown certificate authority") // as the servers say it
	s.authority.Issue(t, s.cert, s.key)
	s.well(t, nodes)
	s.trust(t, stranger)
	s.fails(t, "certificate signed by unknown authority")
	s.trust(t, s.authority)
	s.well(t, nodes)
	if n := strings.Count(s.Output(), "Sweeps succeed again"); n != 2 {
		t.Errorf("%d lines say that sweeps succeed again, want 2", n)
	}
}

// TestTLSServerNames: certificates for names only. One name for all nodes is
// configured; or each node announces its own, and the seed is reached by another.
func TestTLSServerNames(t *testing.T) {
	binary := redistest.Require(t, "redis-server")
	redistest.RequireTLS(t, binary)
	authority := redistest.NewAuthority(t)
	c := redistest.StartClusterBinary(t, binary, 3, append(authority.ServerArgs(t, "redis.keyhealth.test"), "--cluster-require-full-coverage", "no")...)
	user(t, c.Nodes, letIn...)
	s, settings := files(t, authority)
	settings["REDIS_URL"] = "rediss://" + c.Nodes[0].Addr()
	s.Exporter = Start(t, settings)
	s.fails(t, "127.0.0.1")
	settings["REDIS_TLS_SERVER_NAME"] = "redis.keyhealth.test"
	s.Exporter = Start(t, settings)
	s.well(t, 3)

	names := []string{"localhost", "b.keyhealth.test", "c.keyhealth.test"} // the first is the seed
	for i, node := range c.Nodes {
		args := authority.ServerArgs(t, names[i])
		client := node.Client(t)
		for _, change := range [][]any{{"tls-cert-file", args[1], "tls-key-file", args[3]}, {"cluster-announce-hostname", names[i]}} {
			if err := client.Do(t.Context(), append([]any{"CONFIG", "SET"}, change...)...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	delete(settings, "REDIS_TLS_SERVER_NAME")
	settings["REDIS_URL"] = fmt.Sprintf("rediss://localhost:%d", c.Nodes[0].Port())
	s.Exporter = Start(t, settings)
	swept := func(m Metrics, i int) bool {
		node := fmt.Sprintf("node=%s:%d", names[i], c.Nodes[i].Port())
		return slices.Equal(m.Values("keyhealth_node_swept", node), []float64{1})
	}
	s.Wait(t, "all nodes by their names", func(m Metrics) bool { return swept(m, 0) && swept(m, 1) && swept(m, 2) })
	s.well(t, 3)
	c.Nodes[0].Kill() // the others know the Cluster as well as the seed
	ended := s.Scrape(t).Value(t, "keyhealth_sweeps_total")
	s.Wait(t, "the other nodes without the seed", func(m Metrics) bool {
		return !swept(m, 0) && swept(m, 1) && swept(m, 2) && m.Is("keyhealth_sweeps_total", ">=", ended+3)
	})
}

// TestTLSOfASentinelSet: the Sentinel has a user of its own, and everything
// speaks TLS.
func TestTLSOfASentinelSet(t *testing.T) {
	redistest.RequireTLS(t, redistest.Require(t, "redis-server"))
	authority := redistest.NewAuthority(t)
	args := authority.ServerArgs(t, "127.0.0.1")
	primary := redistest.Start(t, args...)
	redistest.Fill(t, primary, `for i = 1, 1000 do redis.call('SET', 'limit:' .. i, 1) end`)
	replica := redistest.StartReplica(t, primary, args...)
	sentinel := redistest.StartSentinel(t, primary, 1, args...)
	servers := []*redistest.Server{primary, replica}
	user(t, servers, letIn...)
	admin := sentinel.Client(t).Conn()
	defer func() { _ = admin.Close() }()
	watcher := func(words ...string) {
		arguments := []any{"ACL", "SETUSER"}
		for _, word := range words {
			arguments = append(arguments, word)
		}
		if err := admin.Do(t.Context(), arguments...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	watcher("watcher", "on", ">one", "-@all", "+client|setname", "+sentinel|get-master-addr-by-name", "+sentinel|replicas", "+ping", "+hello")
	s, settings := files(t, authority)
	settings["REDIS_URL"] = "rediss+sentinel://" + sentinel.Addr() + "/" + redistest.SentinelMaster
	settings["SENTINEL_USERNAME"], settings["SENTINEL_PASSWORD_FILE"] = "watcher", s.pass2
	s.Exporter = Start(t, settings)
	if m := s.well(t, 2); m.Value(t, "keyhealth_group_zombie_keys") != 1000 {
		t.Errorf("%v zombies", m.Values("keyhealth_group_zombie_keys"))
	}
	watcher("watcher", ">two")
	write(t, s.pass2, "two")
	s.well(t, 2)
	watcher("watcher", "<one")
	s.well(t, 2)
	s.renewals(t, servers)
}

package main

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"keyhealth/collector"
	"keyhealth/collector/source"
	"keyhealth/collector/spec"
	"keyhealth/internal/redistest"
)

const passed = "exact_limit  ok\nttl          ok\nhealing      ok\ncleanup      ok\n"

// runSelfTestCommand runs the command to its end, in time.
func runSelfTestCommand(t *testing.T, env map[string]string, arguments ...string) outcome {
	t.Helper()
	setenv(t, env)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), append([]string{selfTestCommand}, arguments...), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// wantEmpty wants no key on a server.
func wantEmpty(t *testing.T, c *redis.Client) {
	t.Helper()
	for db := range 4 {
		left, err := c.Do(t.Context(), "EVAL", "redis.call('SELECT', ARGV[1]) return redis.call('KEYS', '*')", 0, db).StringSlice()
		if err != nil || len(left) != 0 {
			t.Errorf("left in database %d are %q, %v", db, left, err)
		}
	}
}

func TestSelfTestCommand(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		admin := server.Client(t)
		for name, got := range map[string]outcome{
			"setting":        runSelfTestCommand(t, map[string]string{"KEYHEALTH_REDIS_URL": server.URL()}),
			"argument":       runSelfTestCommand(t, map[string]string{"KEYHEALTH_REDIS_URL": "nonsense"}, server.URL()+"/3"),
			"several":        runSelfTestCommand(t, map[string]string{"KEYHEALTH_CONFIG_FILE": writeFile(t, "targets: [{name: a, url: '"+server.URL()+"'}, {name: b, url: '"+server.URL()+"/2'}]")}),
			"of the Cluster": runSelfTestCommand(t, nil, redistest.StartClusterBinary(t, binary, 2).Nodes[1].URL()),
		} {
			want := passed
			if name == "several" {
				want = "a:\n" + passed + "b:\n" + passed
			}
			if got.code != exitFine || got.stdout != want || got.stderr != "" {
				t.Errorf("%s: %s", name, got)
			}
		}
		wantEmpty(t, admin)
		// In the database that the URL names: what was planted there has been removed, or is in the way.
		admin.Do(t.Context(), "EVAL", "redis.call('SELECT', 3) return redis.call('SET', 'keyhealth-selftest:lease', 'somebody')", 0)
		if got := runSelfTestCommand(t, nil, server.URL()+"/3"); got.code != exitUnreachable || got.stdout != "" || !strings.Contains(got.stderr, "another self-test is running") {
			t.Error(got)
		}
		if got := runSelfTestCommand(t, nil, server.URL()); got.code != exitFine {
			t.Error(got)
		}
	})
}

func TestSelfTestOfASentinelSet(t *testing.T) {
	redistest.Run(t, "sentinel", func(t *testing.T, binary string) {
		primary := redistest.StartBinary(t, binary)
		sentinel := redistest.StartSentinel(t, primary, 0)
		got := runSelfTestCommand(t, nil, "redis+sentinel://"+sentinel.Addr()+"/"+redistest.SentinelMaster)
		if got.code != exitFine || got.stdout != passed {
			t.Error(got)
		}
		if stats := primary.Client(t).Info(t.Context(), "commandstats").Val(); !strings.Contains(stats, "cmdstat_evalsha:") {
			t.Errorf("nothing was tested there: %s", stats)
		}
	})
}

func TestSelfTestCommandFails(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		admin := server.Client(t)
		for _, user := range []struct{ name, loses string }{{"nosetter", "-set"}, {"noscripts", "-evalsha"}} {
			if err := admin.Do(t.Context(), "ACL", "SETUSER", user.name, "on", ">hunter2", "~*", "+@all", user.loses).Err(); err != nil {
				t.Fatal(err)
			}
		}
		as := func(user, password string) map[string]string {
			return map[string]string{"KEYHEALTH_REDIS_USERNAME": user, "KEYHEALTH_REDIS_PASSWORD": password}
		}
		for _, test := range []struct {
			name   string
			env    map[string]string
			url    string
			code   int
			stdout string // a part of it
			stderr string
		}{
			{"unreachable", nil, "redis://127.0.0.1:1", exitUnreachable, "", "selftest: connecting: dial tcp 127.0.0.1:1: connect: connection refused: is the server up, the address right, "},
			{"wrong password", as("nosetter", "x"), server.URL(), exitUnreachable, "", "selftest: connecting: Redis answered WRONGPASS: check the user and the password; "},
			{"refused at once", as("nosetter", "hunter2"), server.URL(), exitUnreachable, "", "selftest: NOPERM: Redis refuses SET, or one in its script, under the self-test's prefix: KEYHEALTH_SELFTEST_INTERVAL=1h keyhealth acl prints what its user needs\n"},
			{"refused later", as("noscripts", "hunter2"), server.URL(), exitUnreachable, "exact_limit  failed: ", "selftest: NOPERM: Redis refuses EVALSHA, or one in its script, under the self-test's prefix: KEYHEALTH_SELFTEST_INTERVAL=1h keyhealth acl prints what its user needs\n"},
			{"a password in the argument", nil, "redis://alice9:hunter2@h", exitUsage, "", "URL: must not hold a user or password, which others see in an argument: set KEYHEALTH_REDIS_USERNAME and KEYHEALTH_REDIS_PASSWORD_FILE\n"},
			{"no URL", nil, "redis://h:port", exitUsage, "", "URL: cannot be read as a URL: "},
		} {
			t.Run(test.name, func(t *testing.T) {
				got := runSelfTestCommand(t, test.env, test.url)
				if got.code != test.code || !strings.HasPrefix(got.stderr, "keyhealth: "+test.stderr) || !strings.Contains(got.stdout, test.stdout) || test.stdout == "" && got.stdout != "" {
					t.Errorf("%swant %d %q %q", got, test.code, test.stdout, test.stderr)
				}
				for _, trace := range []string{"hunter2", "nosetter", "noscripts", "alice9"} {
					if strings.Contains(got.String(), trace) {
						t.Errorf("%q shows in %s", trace, got)
					}
				}
			})
		}
		wantEmpty(t, admin)
	})
}

// TestSelfTestFindsAFault: somebody takes the TTLs away all the time.
func TestSelfTestFindsAFault(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		vandal := server.Client(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				vandal.Eval(ctx, "for _, k in ipairs(redis.call('KEYS', '*{*')) do redis.call('PERSIST', k) end", nil)
			}
		}()
		got := runSelfTestCommand(t, nil, server.URL())
		cancel()
		<-ended
		if got.code != exitFailed || !strings.Contains(got.stdout, "ttl          failed: ") || !strings.HasSuffix(got.stdout, "cleanup      ok\n") || got.stderr != "" {
			t.Error(got)
		}
		wantEmpty(t, server.Client(t))
	})
}

func TestSelfTestWarns(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary, "--maxmemory-policy", "allkeys-lru", "--maxmemory", "100mb")
		got := runSelfTestCommand(t, nil, server.URL())
		want := passed + "warning      maxmemory-policy is allkeys-lru: when memory is full the server evicts counters, and limits start anew\n"
		if got.code != exitFine || got.stdout != want {
			t.Error(got)
		}
	})
}

func TestSelfTestInterrupted(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		server := redistest.StartBinary(t, binary)
		admin := server.Client(t)
		setenv(t, map[string]string{"KEYHEALTH_REDIS_URL": server.URL()})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil && admin.Exists(ctx, "keyhealth-selftest:lease").Val() == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			cancel()
		}()
		var stdout, stderr bytes.Buffer
		if code := run(ctx, []string{selfTestCommand}, &stdout, &stderr); code != exitInterrupted || stderr.String() != "keyhealth: selftest: interrupted\n" {
			t.Error(outcome{code, stdout.String(), stderr.String()})
		}
		wantEmpty(t, admin)
	})
}

// selfTestRule finds the user of the self-test in what acl printed, his rule, and
// the part of it that only the self-test needs: in brackets from Redis 7.0 on, and
// before that a user of his own in a comment.
func selfTestRule(t *testing.T, printed string) (user, rule, inner string) {
	t.Helper()
	for line := range strings.Lines(printed) {
		rule = strings.TrimSpace(strings.TrimPrefix(line, "# "))
		if _, inner, found := strings.Cut(strings.TrimSuffix(rule, ")"), " ("); found && !strings.HasPrefix(line, "#") {
			return "keyhealth", rule, inner
		}
		if _, after, found := strings.Cut(rule, "ACL SETUSER keyhealth-selftest on >PASSWORD -@all "); found {
			inner, _, _ = strings.Cut(after, " +info")
			return "keyhealth-selftest", rule, inner
		}
	}
	t.Fatal(printed)
	return "", "", ""
}

// TestPermissionsOfTheSelfTest: the printed user can do it without an error of the
// server, on its prefix only, and cannot without any of what is in brackets.
func TestPermissionsOfTheSelfTest(t *testing.T) {
	redistest.Run(t, "real", func(t *testing.T, binary string) {
		cluster := redistest.StartClusterBinary(t, binary, 2)
		for kind, servers := range map[string][]*redistest.Server{"single": {redistest.StartBinary(t, binary)}, "cluster": cluster.Nodes} {
			env := map[string]string{"KEYHEALTH_SELFTEST_INTERVAL": "1h", "KEYHEALTH_REDIS_URL": servers[0].URL()}
			if kind == "cluster" {
				env["KEYHEALTH_REDIS_CLUSTER"] = "true"
			}
			user, rule, inner := selfTestRule(t, runWith(t, env, aclCommand, "--server-version="+servers[0].Version(t)).stdout)
			maps.Copy(env, map[string]string{"KEYHEALTH_REDIS_USERNAME": user, "KEYHEALTH_REDIS_PASSWORD": "p"})
			permit := func(rule string) {
				for _, server := range servers {
					server.Client(t).Do(t.Context(), "ACL", "DELUSER", user) // what a rule leaves out stays
					words := []any{}
					for word := range strings.FieldsSeq(strings.Replace(rule, ">PASSWORD", ">p", 1)) {
						words = append(words, word)
					}
					if err := server.Client(t).Do(t.Context(), words...).Err(); err != nil {
						t.Fatalf("%s: %v", rule, err)
					}
				}
			}
			permit(rule)
			if got := runSelfTestCommand(t, env); got.code != exitFine || got.stdout != passed {
				t.Errorf("%s: %s", kind, got)
			}
			for _, server := range servers {
				if stats := server.Client(t).Info(t.Context(), "errorstats").Val(); strings.Contains(stats, "NOPERM") {
					t.Errorf("%s: the printed rule caused %s", kind, stats)
				}
			}
			for part := range strings.FieldsSeq(inner) {
				if part == "+pttl" { // the sweep has it for all keys
					continue
				}
				permit(strings.Replace(rule, " "+part, "", 1))
				if strings.HasPrefix(part, "~") {
					permit(strings.Replace(rule, part, "~other:*", 1))
				}
				if got := runSelfTestCommand(t, env); got.code != exitUnreachable {
					t.Errorf("%s without %s: %s", kind, part, got)
				}
				permit(rule)
				for _, server := range servers {
					server.Client(t).FlushAll(t.Context()) // what could not be removed
				}
			}
		}
	})
}

// TestSelfTestShowsNoTextOfTheServer: whatever it answers to a command, by the
// command line and in the log there is the error's code at most.
func TestSelfTestShowsNoTextOfTheServer(t *testing.T) {
	const text = " proxy: key rate_limit:alice SEKRETVAL user=bob"
	for _, test := range []struct{ command, answer, shown string }{
		{"EVALSHA", "ERR" + text, "Redis answered an error"},
		{"EVALSHA", "OOM" + text, "Redis answered OOM"},
		{"EVALSHA", "SEKRETVAL" + text, "Redis answered an error"},
		{"EVALSHA", "WRONGTYPE" + text, "WRONGTYPE"},
		{"EVALSHA", "ERR BADARGUMENT" + text, "BADARGUMENT"},
		{"EVAL", "NOSCRIPT" + text, "NOSCRIPT"},
		{"SET", "ERR" + text, "Redis answered an error"},
		{"DEL", "UNREADABLE" + text, "UNREADABLE"},
		{"PTTL", "LOADING" + text, "Redis answered an error"}, // of the script that it ends
	} {
		t.Run(test.command+" "+test.answer, func(t *testing.T) {
			m := miniredis.RunT(t)
			m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
				if command != test.command {
					return false
				}
				c.WriteError(test.answer)
				return true
			})
			log := newLogBuffer()
			s := &selfTester{log: slog.New(slog.NewTextHandler(log, nil)), publish: func(collector.SelfTest) {}}
			target := spec.Target{Endpoint: spec.Endpoint{Network: "tcp", Address: m.Addr(), Timeout: patience}}
			s.note(runSelfTest(t.Context(), func(ctx context.Context) (redis.UniversalClient, error) {
				return source.NewClient(ctx, target, source.NewCommandCounts())
			}))
			m.FlushAll() // what could not be removed
			got := runSelfTestCommand(t, nil, "redis://"+m.Addr())
			if got.code != exitUnreachable || !strings.Contains(got.stderr, test.shown) || !strings.Contains(log.String(), test.shown) {
				t.Errorf("%s%s", got, log)
			}
			for _, trace := range []string{"SEKRETVAL", "alice", "bob", "proxy"} {
				if strings.Contains(got.String()+log.String(), trace) {
					t.Errorf("%q shows in %s%s", trace, got, log)
				}
			}
		})
	}
}

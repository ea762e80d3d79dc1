// What the presets say of keys that a real Redis holds: each preset's library,
// replayed from testdata/presets.yaml, and keyspaces that are healthy.

package collector

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// presetExample is what a library does to a healthy key and to an unhealthy one.
type presetExample struct {
	Preset    string
	Healthy   []command
	Unhealthy []command
	Shows     string
}

func presetExamples(t testing.TB) []presetExample {
	t.Helper()
	content, err := os.ReadFile("testdata/presets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var examples []presetExample
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&examples); err != nil {
		t.Fatal(err)
	}
	return examples
}

// TestPresetExamples: every preset has its keys, and only those, and says of
// them what is true. All presets are active, one sweep meets them all.
func TestPresetExamples(t *testing.T) {
	r := startTestRedis(t)
	presets, examples := Presets(), presetExamples(t)
	shows := map[string]string{
		"zombie":       ", %[1]d without TTL, %[1]d zombies",
		"leak":         ", %[1]d without TTL, %[1]d zombies, %[1]d leaked",
		"lockout_risk": ", %[1]d without TTL, %[1]d zombies, %[1]d at risk",
		"excessive":    ", %[1]d excessive",
		"without_ttl":  ", %[1]d without TTL",
	}
	want := make([]string, len(presets))
	for db, p := range presets {
		i := slices.IndexFunc(examples, func(e presetExample) bool { return e.Preset == p.Name })
		if i < 0 {
			t.Errorf("%s has no example in testdata/presets.yaml", p.Name)
			continue
		}
		e := examples[i]
		examples = slices.Delete(examples, i, i+1)
		healthy := r.play(db, e.Healthy)
		unhealthy := r.play(db, e.Unhealthy)
		if healthy == 0 || (unhealthy == 0) != (e.Shows == "none") || (e.Shows == "none") != (p.TTL == Persistent) {
			t.Errorf("%s: %d healthy and %d unhealthy keys, which show as %q", p.Name, healthy, unhealthy, e.Shows)
		}
		want[db] = fmt.Sprintf("%s: %d keys", p.Name, healthy+unhealthy)
		switch format, known := shows[e.Shows]; {
		case known:
			want[db] += fmt.Sprintf(format, unhealthy)
		case e.Shows == "none":
			want[db] += fmt.Sprintf(", %d without TTL", healthy)
		default:
			t.Errorf("%s: shows is %q", p.Name, e.Shows)
		}
	}
	for _, e := range examples {
		t.Errorf("the example of %q belongs to no preset, or is its second", e.Preset)
	}
	snapshot := r.sweep(nil, presets)
	for db := range presets {
		if got := healthOf(snapshot, db); got != want[db] {
			t.Errorf("got  %s\nwant %s", got, want[db])
		}
	}
	for _, g := range snapshot.Groups {
		if g.Source == SourcePreset && !strings.Contains(g.Library, "/") {
			t.Errorf("%s: library is %q", g.Name, g.Library)
		}
	}
}

// TestHealthyKeyspaceIsSilent: the default must not alarm on keys that an
// application means to keep, however limiter-like their names are.
func TestHealthyKeyspaceIsSilent(t *testing.T) {
	r := startTestRedis(t)
	var story []command
	for _, name := range []string{
		"rate:EURUSD", "rate:limit:default", "limit:credit:7", "limit:config", "limiter:config", "limits:max", "LIMITS", "LIMITS:config",
		"ratelimit:settings", "ratelimit:config:minute", "ratelimit.config.x", "rate_limit:config", "rate_limit:7:max", "rateLimit:config",
		"rateLimits", "rate-limit:config", "throttle:x", "throttled:x", "throttled:api:threshold", "throttled:api:concurrency",
		"rl:cfg", "rl:7", "rl:config:1", "session:42", "session:42:1700000000", "feature:login:limiter", "queue:mail:limiter", "bull:mail:id",
		"bull:mail:meta", "quota-7", "hrl:x", "user:7:hits", "{user:7}:hits", "{user:7}:value", "{user:7}.ts", "limit_req:config",
		"limit_conn:config", "b_home_settings", "b_lobby_users", ":1:settings", ":1:throttle", "defender:settings", "dify:config", "httprate:config",
		"rack::attack:enabled", "cache:rack::attack:config", "@upstash/ratelimit:config", "open-webui:config", "application:limits",
		"namespace:shop", "request_rate_limiter:config", "3_fixed_window_config", "7_connections_max", "10.0.0.7:2024-01-01", "a:timer", "plugin:limit",
	} {
		story = append(story, command{"SET", name, "1"})
	}
	for _, name := range []string{"rateLimit:rules", "throttled:queues", "limits:log"} {
		story = append(story, command{"RPUSH", name, "1"})
	}
	for _, name := range []string{"throttled:board", "limit:board", "rate-limit:board", "concurrent_limit:board"} {
		story = append(story, command{"ZADD", name, "1", "1"})
	}
	for _, name := range []string{"rate:table", "ratelimit:rules:all", "@upstash:config", "limit_req:rules"} {
		story = append(story, command{"HSET", name, "1", "1"})
	}
	keys := r.play(0, story)
	distinctive, err := SelectPresets([]string{PresetsDistinctive})
	if err != nil {
		t.Fatal(err)
	}
	s := r.sweep(nil, distinctive)
	if got, want := healthOf(s, 0), fmt.Sprintf("(other): %d keys, %[1]d without TTL", keys); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestClashes: names that several libraries have go to the one whose type the
// key is of, and to nobody where it is of no such type.
func TestClashes(t *testing.T) {
	r := startTestRedis(t)
	r.play(0, []command{
		{"SET", "rate:x", "1"}, {"HSET", "rate:y", "a", "1"}, {"SADD", "rate:z", "1"},
		{"ZADD", "limit:x", "1", "1"}, {"SET", "limit:x:count", "1"}, {"SADD", "limit:y", "1"},
		{"LPUSH", "throttled:x:threshold", "1"}, {"ZADD", "throttled:x:concurrency.v2", "1", "1"}, {"SET", "throttled:v1:gcra:x", "1"},
		{"SADD", "throttled:x:threshold:y", "1"},
		{"HSET", "limit_req:x", "a", "1"}, {"SET", "limit_req:xlast", "1"}, {"ZADD", "limit_conn:x", "1", "1"}, {"SET", "limit_conn:y", "1"},
		{"SET", "rl:x", "1"}, {"SET", "rl:fw:{x}", "1"}, {"ZADD", "rl:cc:{x}", "1", "1"}, {"SET", "rl:d41d8cd98f00b204:1", "1"},
		{"SET", "ratelimit:x", "1"}, {"HSET", "ratelimit:x:y", "a", "1"}, {"SET", "ratelimit:a:b:c:1700000040000:minute", "1"},
		{"SET", "@upstash/ratelimit:a:7", "1"}, {"HSET", "@upstash/ratelimit:b:7", "a", "1"}, {"SADD", "@upstash/ratelimit:denyList:7", "1"},
	})
	s := r.sweep(nil, Presets())
	got := map[string]float64{}
	for _, g := range s.Groups {
		got[g.Name] = g.Keys
	}
	want := map[string]float64{
		OtherGroup: 3, "redis-rate": 1, "traefik": 1, "koa-ratelimit": 1, "koa-simple-ratelimit": 1,
		"sidekiq-throttled": 1, "sidekiq-throttled-concurrency": 1, "throttled-py": 1,
		"apisix-limit-req": 1, "apisix-limit-req-pair": 1, "apisix-limit-conn": 1, "apisix-limit-conn-counter": 1,
		"rate-limit-redis": 1, "redis-rate-limiting": 1, "redis-rate-limiting-concurrency": 1, "sentry": 1,
		"redis-rate-limiter": 1, "ratelimit": 1, "kong": 1,
		"upstash-ratelimit": 1, "upstash-ratelimit-token-bucket": 1, "upstash-ratelimit-settings": 1,
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s has %v keys, want %v", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}

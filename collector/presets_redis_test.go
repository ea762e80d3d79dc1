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

	"keyhealth/collector/classify"
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
	presets, examples := classify.Presets(), presetExamples(t)
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
		if healthy == 0 || (unhealthy == 0) != (e.Shows == "none") || (e.Shows == "none") != (p.TTL == classify.Persistent) {
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
		if g.Source == classify.SourcePreset && !strings.Contains(g.Library, "/") {
			t.Errorf("%s: library is %q", g.Name, g.Library)
		}
	}
}

// keptTypes are the types of what the commands of keptKeys make.
var keptTypes = map[string]string{"SET": "string", "RPUSH": "list", "SADD": "set", "ZADD": "zset", "HSET": "hash"}

// keptKeys are healthy keys without TTL, by the command that makes them: none of
// a limiter, however much it looks like one.
var keptKeys = []struct {
	write command // without the name
	names []string
}{
	{command{"SET", "1"}, []string{
		"rate:EURUSD", "rate:limit:default", "limit:credit:7", "limit:config", "limiter:config", "limits:max", "LIMITS", "LIMITS:config",
		"ratelimit:settings", "ratelimit:config:minute", "ratelimit.config.x", "rate_limit:config", "rate_limit:7:max", "rateLimit:config",
		"rateLimits", "rate-limit:config", "throttle:x", "throttled:x", "throttled:api:threshold", "throttled:api:concurrency",
		"rl:cfg", "rl:7", "rl:config:1", "session:42", "session:42:1700000000", "feature:login:limiter", "queue:mail:limiter", "bull:mail:id",
		"bull:mail:meta", "quota-7", "hrl:x", "user:7:hits", "{user:7}:hits", "{user:7}:value", "{user:7}.ts", "limit_req:config",
		"limit_conn:config", "b_home_settings", "b_lobby_users", ":1:settings", ":1:throttle", "defender:settings", "dify:config", "httprate:config",
		"rack::attack:enabled", "cache:rack::attack:config", "@upstash/ratelimit:config", "open-webui:config", "application:limits",
		"namespace:shop", "request_rate_limiter:config", "3_fixed_window_config", "7_connections_max", "10.0.0.7:2024-01-01", "a:timer", "plugin:limit",
		// counters of a CMS, reading lists, caches of Django: ids as long as they come
		"{507f1f77bcf86cd799439011:article}:hits", "{1234567890:article}:hits", "{507f1f77bcf86cd799439011:article}:blocked",
		"{d41d8cd98f00b204e9800998ecf8427e:page}:hits", "rl:507f1f77bcf86cd799439011:3", "rl:123456789:2", "rl:d41d8cd98f00b204e9800998ecf8427e:3",
		":1:throttle_override_7", ":1:throttle_settings_api", ":1:rl:123456789", ":1:rl:507f1f77bcf86cd799439011", ":1:throttle_user_7",
		// tables and settings that a limiter reads
		"ratelimit:plans:gold:api:100:minute", "ratelimit:plans:gold:api:1000000:day", "response-ratelimit:plans:gold:100:video:minute",
		"fastify-rate-limit-config", "fastify-rate-limit-GET/login", "fastify-rate-limit-GET/sign-in", "fastify-rate-limit-7",
		"fastapi-limiter:config", "fastapi-limiter:settings", "fastapi-limiter:limits:10:60", "fastapi-limiter:limits:/login", "fastapi-limiter:limits:/login:10:60",
		"httprate:42", "httprate:1234567890", "httprate:1700000000000", "hapi-rate-limiter:config:login", "hapi-rate-limiter:plans:/login:gold",
		"hapi-rate-limit:limits:max", "application_rate_limiter:issues_create:300", "application_rate_limiter:limits:issues_create:300",
		"rate_limit:7:follows:400", "rate_limit:7:statuses:300", "rate_limit:7:reports:max", "open-webui:ratelimit:signin:15", "open-webui:ratelimit:limits:3600",
		"LIMITER/config", "LIMITS:plans/10/1/minute", "plugin-limit-count-config", "plugin-limit-counts", "plugin-limit-count:config", "plugin-limit-count:api.7.counter",
		"@upstash/ratelimit:plan:7", "throttled:v1:config", "throttled:v1:limits:period:60", "throttled:v1", "ratelimit:RateLimitedUser:defaults:block",
		"ratelimit:RateLimitedUsers:7:api:block", "ratelimit:RateLimitedRoutes:login:block", "rateLimit:GATEWAY", "rateLimit:CTR",
		"100_percent_fixed_window_promo", "1_fixed_window_replacement", "12345_fixed_window_sku", "1700000000_spring_fixed_window_promo",
		// queues of Bull with a colon in their name
		"bull:email:limiter:id", "bull:email:limiter:meta-paused", "bull:email:limiter:de:order7", "bull:limiter:id",
		// what applications keep
		"laravel_database_settings", "laravel_cache:spatie.permission.cache", "laravel_cache:illuminate:queue:restart", "rails:feature:checkout",
		"views/products/42-20240101120000", "flipper/search", "feature:rate-limit:v2", "spring:config:limits", "spring:session:index:admin",
		"nest:cache:rates:usd", "_next_cache:rates", ":1:site_settings.7", ":1:django.contrib.sites.1", "rates:EURUSD:1700000000", "rate:EURUSD:minute",
		"inventory:sku:123456789", "inventory:507f1f77bcf86cd799439011:hits", "stock:limit:42", "user:7:limit", "credit:limit:7:month",
		"sess:d41d8cd98f00b204e9800998ecf8427e", "stat:processed", "hits:2024-01-01", "counter:1700000040:minute", "1700000040", "next:build:1700000040000",
	}},
	{command{"RPUSH", "1"}, []string{
		"rateLimit:rules", "throttled:queues", "limits:log", "rl:507f1f77bcf86cd799439011:1", "rl:123456789:1", "rl:d41d8cd98f00b204e9800998ecf8427e:29933333",
		"rateLimit:GATEWAYS", "rateLimit:UPSTREAMS", "rateLimit:GA", "rateLimit:CT", "rateLimit:DWARFS", "rateLimit:UPLOADS:7", "throttled:tiers:thresholds", "throttled:threshold",
		"queue:default", "celery", "timeline:7", "ratelimit:RateLimitedUser:allow:list", "ratelimit:RateLimitedUsers:vip:list",
		"bull:email:limiter:wait", "bull:limiter:active", "laravel_database_queues:default",
	}},
	{command{"SADD", "1"}, []string{
		"rl:507f1f77bcf86cd799439011:2", "rl:123456789:5", "fastify-rate-limit-allowlist", "fastify-rate-limit-denylist", "fastapi-limiter:allowlist",
		"hapi-rate-limiter:allow:list", "httprate:allow", "online:users", "queues", "flipper_features", "spring:session:expirations",
	}},
	{command{"ZADD", "1", "1"}, []string{
		"throttled:board", "limit:board", "rate-limit:board", "concurrent_limit:board", "leaderboard:2024:10", "rl:scores:1", "throttled:jobs:concurrency",
		"bull:email:limiter:delayed", "bull:limiter:completed", "ratelimit:RateLimitedUser:top:zset",
	}},
	{command{"HSET", "1", "1"}, []string{
		"rate:table", "ratelimit:rules:all", "@upstash:config", "limit_req:rules", "@upstash/ratelimit:config", "@upstash/ratelimit:plans",
		"throttled:v1:settings", "bull:email:limiter:42", "bull:email:limiter:meta", "bull:limiter:meta", "cart:7", "application_rate_limiter:overrides",
		"spring:session:sessions:7", "open-webui:ratelimit:config", "inventory:eu:7", "nest:flags", "fastapi-limiter:plans:gold:10:60",
	}},
}

// TestHealthyKeyspaceIsSilent: the default must not alarm on keys that an
// application means to keep, however limiter-like their names are.
func TestHealthyKeyspaceIsSilent(t *testing.T) {
	r := startTestRedis(t)
	distinctive, err := classify.SelectPresets([]string{classify.PresetsDistinctive})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(keptKeys))
	for db, kept := range keptKeys {
		var story []command
		for _, name := range kept.names {
			story = append(story, slices.Concat(command{kept.write[0], name}, kept.write[1:]))
		}
		want[db] = fmt.Sprintf("(other): %d keys, %[1]d without TTL", r.play(db, story))
	}
	s := r.sweep(nil, distinctive)
	c := classify.New(nil, distinctive)
	for db, kept := range keptKeys {
		if got := healthOf(s, db); got != want[db] {
			t.Errorf("got  %s\nwant %s", got, want[db])
		}
		for _, name := range kept.names {
			if d := c.Definitions[c.Group(name, keptTypes[kept.write[0]])]; d != nil {
				t.Errorf("%s is taken for a key of %s", name, d.Name)
			}
		}
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
		{"SET", "rl:x", "1"}, {"SET", "rl:fw:{x}", "1"}, {"ZADD", "rl:cc:{x}", "1", "1"}, {"SET", "rl:d41d8cd98f00b204e9800998ecf8427e:29933333", "1"},
		{"SET", "ratelimit:x", "1"}, {"HSET", "ratelimit:x:y", "a", "1"}, {"SET", "ratelimit:a:b:c:1700000040000:minute", "1"},
		{"SET", "@upstash/ratelimit:a:29933333", "1"}, {"HSET", "@upstash/ratelimit:b:29933333", "a", "1"}, {"SADD", "@upstash/ratelimit:denyList:7", "1"},
		{"INCR", "LIMITS:LIMITER/a/x/10/1/minute"}, {"LPUSH", "LIMITS:LIMITER/b/x/10/1/minute", "1"}, {"SADD", "LIMITS:LIMITER/c/x/10/1/minute", "1"},
	})
	s := r.sweep(nil, classify.Presets())
	got := map[string]float64{}
	for _, g := range s.Groups {
		got[g.Name] = g.Keys
	}
	want := map[string]float64{
		classify.OtherGroup: 4, "redis-rate": 1, "traefik": 1, "koa-ratelimit": 1, "koa-simple-ratelimit": 1,
		"sidekiq-throttled": 1, "sidekiq-throttled-concurrency": 1, "throttled-py": 1,
		"apisix-limit-req": 1, "apisix-limit-req-pair": 1, "apisix-limit-conn": 1, "apisix-limit-conn-counter": 1,
		"rate-limit-redis": 1, "redis-rate-limiting": 1, "redis-rate-limiting-concurrency": 1, "sentry": 1,
		"redis-rate-limiter": 1, "ratelimit": 1, "kong": 1,
		"upstash-ratelimit": 1, "upstash-ratelimit-token-bucket": 1, "upstash-ratelimit-settings": 1,
		"limits": 1, "limits-moving-window": 1,
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

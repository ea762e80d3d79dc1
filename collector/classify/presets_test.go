package classify

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPresetsFile checks what validate cannot know of a single preset.
func TestPresetsFile(t *testing.T) {
	presets := Presets()
	if len(presets) < 45 {
		t.Errorf("only %d presets", len(presets))
	}
	project := regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	type claim struct{ glob, keyType string }
	claims := map[claim]string{}
	for _, p := range presets {
		if !project.MatchString(p.Project) || strings.HasPrefix(p.Source, "/") || !strings.Contains(p.Source, ".") {
			t.Errorf("%s: project %q, source %q", p.Name, p.Project, p.Source)
		}
		if p.Note != "" && !strings.HasSuffix(p.Note, ".") || len(p.Note) > 120 {
			t.Errorf("%s: a note is a sentence or two of at most 120 characters", p.Name)
		}
		if p.TTL == Expected && p.Counts == "down" && p.definition().Counts != Down {
			t.Errorf("%s counts %s", p.Name, p.definition().Counts)
		}
		for _, glob := range p.Match {
			if other := claims[claim{glob, p.Type}]; other != "" || claims[claim{glob, ""}] != "" {
				t.Errorf("%s and %s claim %s alike", other, p.Name, glob)
			}
			claims[claim{glob, p.Type}] = p.Name
		}
	}
}

// TestAuxiliaryGlobsAreLonger: of two presets that match the same name the one
// with more literal bytes has it, so a special case needs more than the rule.
func TestAuxiliaryGlobsAreLonger(t *testing.T) {
	c := New(nil, Presets())
	for name, want := range map[string]string{
		"@upstash/ratelimit:denyList:7":                   "upstash-ratelimit-settings",
		"@upstash/ratelimit:7:29933333":                   "upstash-ratelimit",
		"bull:mail:limiter:index":                         "bull",
		"bull:mail:limiter:alice":                         "bullmq-group",
		"bull:mail:limiter":                               "bullmq",
		"fastify-rate-limit-10.0.0.7":                     "fastify-rate-limit",
		"fastify-rate-limit-GET/users/:id-2001:db8::1":    "fastify-rate-limit",
		"fastify-rate-limit-alice":                        "fastify-rate-limit-key",
		"fastapi-limiter:10.0.0.7:/login:0:0":             "fastapi-limiter",
		"fastapi-limiter:2001:db8::1:/login:0:0":          "fastapi-limiter",
		"fastapi-limiter:alice:0:0":                       "fastapi-limiter-key",
		"limit_req:xlast":                                 "apisix-limit-req-pair",
		"plugin-limit-count:a.29933333.counter":           "apisix-limit-count-sliding",
		"plugin-limit-count:a:b.counter":                  "apisix-limit-count",
		"throttled:v1:sliding_window:a:period:7":          "throttled-py-window",
		"namespace:{a},counters_of_limit:{}":              "limitador-index",
		"ratelimit:RateLimitedUser:7:api:block":           "zulip-block",
		"rack::attack:allow2ban:ban:1.2.3.4":              "rack-attack-ban",
		"rack::attack:28333334:allow2ban:count:1.2.3.4":   "rack-attack",
		"concurrent_request_rate_limiter.{a}.tokens":      "shenyu-concurrent",
		"response-ratelimit:r:s:i:1700000040000:v:minute": "kong-response-ratelimiting",
	} {
		if got := c.Definitions[c.Group(name, "string")]; got == nil || got.Name != want {
			t.Errorf("%s goes to %+v, want %s", name, got, want)
		}
	}
}

const soundPreset = `
- name: a
  project: b/c
  source: d.go
  match: "a:*"
  ttl: expected
`

func TestPresetsFileProblems(t *testing.T) {
	with := func(lines ...string) string { return soundPreset + "  " + strings.Join(lines, "\n  ") + "\n" }
	instead := func(old, new string) string { return strings.Replace(soundPreset, old, new, 1) }
	for want, content := range map[string]string{
		"":                              soundPreset,
		"field ttls not found":          with("ttls: expected"),
		`preset "a": must come before`:  soundPreset + soundPreset,
		"lower case letters":            instead("name: a", "name: Kong"),
		"project and source say":        instead("project: b/c", "project: ''"),
		"match is empty":                instead(`match: "a:*"`, "match: []"),
		"no such type":                  with("type: text"),
		"ttl must be expected":          instead("ttl: expected", "ttl: always"),
		"window must be unit":           with("window: seconds", "max_ttl_factor: 1"),
		"max_ttl_factor, at least 1":    with("window: unit"),
		"max_ttl_factor, at least":      with("max_ttl_factor: 1"),
		"index must be first or last":   with("index: middle"),
		"counts must be up":             with("counts: sideways"),
		"only where a TTL is expected":  strings.Replace(with("lockout: true"), "ttl: expected", "ttl: persistent", 1),
		"only where a TTL is":           strings.Replace(with("index: last"), "ttl: expected", "ttl: unknown", 1),
		"a distinctive name":            strings.Replace(with("distinctive: true"), `"a:*"`, `"*:a"`, 1),
		"a persistent group has no max": strings.Replace(with("max_ttl: 1h"), "ttl: expected", "ttl: persistent", 1),
		"not a duration such as":        with("max_ttl: soon"),
		"cannot unmarshal":              "a: b",
	} {
		presets, err := parsePresets([]byte(content))
		switch {
		case want == "" && err == nil && len(presets) == 1:
		case want == "" || err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestSelectPresets(t *testing.T) {
	all := Presets()
	count := func(names ...string) int {
		t.Helper()
		presets, err := SelectPresets(names)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(presets, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%v: not sorted", names)
		}
		return len(presets)
	}
	distinctive := count(PresetsDistinctive)
	if distinctive < 20 || distinctive >= len(all) || count(PresetsAll) != len(all) || count(PresetsNone) != 0 || count() != 0 {
		t.Errorf("%d distinctive ones of %d", distinctive, len(all))
	}
	if count("kong") != 1 || count("distinctive", "kong") != distinctive || count("distinctive", "redis-rate", "traefik", "redis-rate") != distinctive+2 {
		t.Error("names beside the words")
	}
	if _, err := SelectPresets([]string{"none", "kong"}); err == nil {
		t.Error("none with others")
	}
	var unknown UnknownPresetError
	if _, err := SelectPresets([]string{"distinctive", "king"}); !errors.As(err, &unknown) || unknown != "king" {
		t.Errorf("%v", err)
	}
}

func TestPresetDefinition(t *testing.T) {
	p := Preset{Name: "a", Project: "b/c", TTL: Expected, Window: windowUnit, WindowFits: 2, Lockout: true, Counts: "down"}
	d := p.definition()
	if bound, stated := d.Bound("x:minute"); bound != 2*time.Minute || !stated {
		t.Errorf("%v, %v", bound, stated)
	}
	if bound, stated := d.Bound("x:fortnight"); bound != DefaultMaxTTL || stated {
		t.Errorf("%v, %v", bound, stated)
	}
	p.MaxTTL = Duration(time.Hour)
	if bound, stated := p.definition().Bound("x"); bound != time.Hour || !stated {
		t.Errorf("%v, %v", bound, stated)
	}
	if d.Source != SourcePreset || d.Library != "b/c" || !d.Lockout || d.Counts != Down {
		t.Errorf("%+v", d)
	}
}

// TestPresetBounds: a window in a name bounds the TTL more tightly than anything.
func TestPresetBounds(t *testing.T) {
	c := New(nil, Presets())
	for key, want := range map[string]time.Duration{
		"ratelimit:r:s:i:1700000040000:minute":                           time.Minute,
		"ratelimit:r:s:i:1700000040000:year":                             365 * 24 * time.Hour,
		"response-ratelimit:r:s:i:1700000040000:video:hour":              time.Hour,
		"LIMITS:LIMITER/10.0.0.7/index/10/5/minute":                      10 * time.Minute,
		"LIMITS:{LIMITER/10.0.0.7/index/10/5/minute}/-1":                 10 * time.Minute,
		"list LIMITS:LIMITER/10.0.0.7/index/10/5/minute":                 5 * time.Minute,
		`namespace:{n},counter:{"limit":{"namespace":"n","seconds":60}}`: time.Minute,
		"list rateLimit:GW10.0.0.7":                                      20 * time.Minute,
		"application_rate_limiter:a:b:29933333":                          25 * time.Hour,
		"fastify-rate-limit-10.0.0.7":                                    DefaultMaxTTL,
	} {
		keyType, name, given := strings.Cut(key, " ")
		if !given {
			keyType, name = "string", key
		}
		d := c.Definitions[c.Group(name, keyType)]
		if d == nil {
			t.Errorf("%s is nobody's", name)
		} else if bound, stated := d.Bound(name); bound != want || stated != (want != DefaultMaxTTL) {
			t.Errorf("%s: at most %v, want %v", name, bound, want)
		}
	}
}

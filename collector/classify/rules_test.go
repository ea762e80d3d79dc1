package classify

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

func TestValidateRules(t *testing.T) {
	yes, no := true, false
	rule := func(change func(*Rule)) []Rule {
		r := Rule{Name: "ocr", Match: Globs{"ocr:*"}}
		change(&r)
		return []Rule{r}
	}
	tests := []struct {
		name  string
		rules []Rule
		want  string // a part of the error; empty: valid
	}{
		{"none", nil, ""},
		{"defaults", rule(func(*Rule) {}), ""},
		{"no name", rule(func(r *Rule) { r.Name = "" }), "group 1 has no name"},
		{"the second has no name", append(rule(func(*Rule) {}), Rule{Match: Globs{"a"}}), "group 2 has no name"},
		{"our own names", rule(func(r *Rule) { r.Name = "(other)" }), "must not begin with"},
		{"a bracket inside", rule(func(r *Rule) { r.Name = "a(b)" }), ""},
		{"invalid UTF-8", rule(func(r *Rule) { r.Name = "a\xff" }), "valid UTF-8"},
		{"longest name", rule(func(r *Rule) { r.Name = strings.Repeat("a", 200) }), ""},
		{"name too long", rule(func(r *Rule) { r.Name = strings.Repeat("a", 201) }), "at most 200 bytes"},
		{"no match", rule(func(r *Rule) { r.Match = nil }), "match is empty"},
		{"empty glob", rule(func(r *Rule) { r.Match = Globs{"a*", ""} }), "match is empty"},
		{"expected", rule(func(r *Rule) { r.TTL = Expected }), ""},
		{"persistent", rule(func(r *Rule) { r.TTL = Persistent }), ""},
		{"unknown", rule(func(r *Rule) { r.TTL = Unknown }), ""},
		{"other ttl", rule(func(r *Rule) { r.TTL = "Expected" }), "ttl must be"},
		{"up", rule(func(r *Rule) { r.Counts = Up }), ""},
		{"down", rule(func(r *Rule) { r.Counts = Down }), ""},
		{"other direction", rule(func(r *Rule) { r.Counts = "sideways" }), "counts must be"},
		{"limit", rule(func(r *Rule) { r.Limit = 1 }), ""},
		{"negative limit", rule(func(r *Rule) { r.Limit = -1 }), "limit must be above 0"},
		{"window", rule(func(r *Rule) { r.Window = 1 }), ""},
		{"max_ttl", rule(func(r *Rule) { r.MaxTTL = 1 }), ""},
		{"window and max_ttl", rule(func(r *Rule) { r.Window, r.MaxTTL = 1, 1 }), "not both"},
		{"smallest factor", rule(func(r *Rule) { r.Window, r.MaxTTLFactor = 1, 1 }), ""},
		{"largest factor", rule(func(r *Rule) { r.Window, r.MaxTTLFactor = 1, 1000 }), ""},
		{"factor below 1", rule(func(r *Rule) { r.Window, r.MaxTTLFactor = 1, 0.99 }), "from 1 to 1000"},
		{"factor above 1000", rule(func(r *Rule) { r.Window, r.MaxTTLFactor = 1, 1000.5 }), "from 1 to 1000"},
		{"negative factor", rule(func(r *Rule) { r.Window, r.MaxTTLFactor = 1, -2 }), "from 1 to 1000"},
		{"no number", rule(func(r *Rule) { r.Window, r.MaxTTLFactor = 1, math.NaN() }), "from 1 to 1000"},
		{"factor without window", rule(func(r *Rule) { r.MaxTTLFactor = 2 }), "needs a window"},
		{"factor with max_ttl", rule(func(r *Rule) { r.MaxTTL, r.MaxTTLFactor = 1, 2 }), "needs a window"},
		{"persistent window", rule(func(r *Rule) { r.TTL, r.Window = Persistent, 1 }), "a persistent group has no"},
		{"persistent max_ttl", rule(func(r *Rule) { r.TTL, r.MaxTTL = Persistent, 1 }), "a persistent group has no"},
		{"persistent limit", rule(func(r *Rule) { r.TTL, r.Limit = Persistent, 1 }), "a persistent group has no"},
		{"persistent lockout", rule(func(r *Rule) { r.TTL, r.Lockout = Persistent, &yes }), "a persistent group has no"},
		{"persistent, no lockout", rule(func(r *Rule) { r.TTL, r.Lockout = Persistent, &no }), ""},
		{"unknown with all", rule(func(r *Rule) { r.TTL, r.Window, r.Limit, r.Lockout = Unknown, 1, 1, &yes }), ""},
		{"twice", append(rule(func(*Rule) {}), rule(func(*Rule) {})...), "described twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := ValidateRules(test.rules)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v does not say %q", err, test.want)
			}
		})
	}
}

func TestParseGroups(t *testing.T) {
	group := func(name, glob string, window time.Duration) Rule {
		return Rule{Name: name, Match: Globs{glob}, Window: Duration(window)}
	}
	flags := Rule{Name: "flags", Match: Globs{"flags:*"}, TTL: Persistent}
	tests := []struct {
		text string
		want []Rule
		err  string
	}{
		{text: ""},
		{text: " , ,"},
		{text: "session:*", want: []Rule{group("session:*", "session:*", 0)}},
		{text: "session:*@1d", want: []Rule{group("session:*", "session:*", day)}},
		{text: "ocr=rate_limit:*@60s,flags=flags:*@persistent", want: []Rule{group("ocr", "rate_limit:*", time.Minute), flags}},
		{text: " ocr=rate_limit:* ,\n b=c ", want: []Rule{group("ocr", "rate_limit:*", 0), group("b", "c", 0)}},
		{text: "a=b=c", want: []Rule{group("a", "b=c", 0)}},
		{text: "a=user@host:*@5m", want: []Rule{group("a", "user@host:*", 5*time.Minute)}},
		{text: "user@host:*", err: `group "user@host:*": what follows @`},
		{text: "a@", err: "what follows @"},
		{text: "a@0s", err: "what follows @"},
		{text: "a@-1s", err: "what follows @"},
		{text: "a@60", err: "what follows @"},
		{text: "a@Persistent", err: "what follows @"},
		{text: "a,a", err: "described twice"},
		{text: "=a", err: "group 1 has no name"},
		{text: "@60s", err: "group 1 has no name"},
		{text: "a=", err: "match is empty"},
		{text: "a=@60s", err: "match is empty"},
		{text: "(a)*", err: "must not begin with"},
		{text: "\xff*", err: "valid UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			rules, err := ParseGroups(test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v does not say %q", err, test.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(rules, test.want) {
				t.Errorf("%+v, %v, want %+v", rules, err, test.want)
			}
		})
	}
}

func TestRulesInYAML(t *testing.T) {
	no := false
	const text = `
- {name: one, match: "a:*"}
- name: all
  match: [a*, "b*", 5]
  ttl: unknown
  window: 1w
  max_ttl_factor: 1.5
  limit: 50
  lockout: false
  counts: down
  unique_names: true
- {name: said, match: *globs, max_ttl: 2m}
`
	var read struct {
		Globs []string
		Rules []Rule
	}
	if err := yaml.Unmarshal([]byte("globs: &globs [x, y]\nrules:"+strings.ReplaceAll(text, "\n", "\n ")), &read); err != nil {
		t.Fatal(err)
	}
	want := []Rule{
		{Name: "one", Match: Globs{"a:*"}},
		{
			Name: "all", Match: Globs{"a*", "b*", "5"}, TTL: Unknown, Window: Duration(7 * day), MaxTTLFactor: 1.5,
			Limit: 50, Lockout: &no, Counts: Down, UniqueNames: true,
		},
		{Name: "said", Match: Globs{"x", "y"}, MaxTTL: Duration(2 * time.Minute)},
	}
	if !reflect.DeepEqual(read.Rules, want) {
		t.Errorf("%+v, want %+v", read.Rules, want)
	}
	for _, text := range []string{"match: {a: b}", "match: [[a]]", "window: 60", "limit: many", "lockout: perhaps"} {
		if err := yaml.Unmarshal([]byte(text), &Rule{}); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func TestRuleInForce(t *testing.T) {
	yes, no := true, false
	tests := []struct {
		name    string
		rule    Rule
		maxTTL  time.Duration
		stated  bool
		lockout bool
	}{
		{"nothing said", Rule{}, 366 * day, false, false},
		{"window", Rule{Window: Duration(time.Minute)}, 2 * time.Minute, true, false},
		{"factor", Rule{Window: Duration(time.Minute), MaxTTLFactor: 1.5}, 90 * time.Second, true, false},
		{"max_ttl", Rule{MaxTTL: Duration(time.Second)}, time.Second, true, false},
		{"longest window", Rule{Window: math.MaxInt64, MaxTTLFactor: 1000}, 1 << 62, true, false},
		{"limit", Rule{Limit: 1}, 366 * day, false, true},
		{"limit, no lockout", Rule{Limit: 1, Lockout: &no}, 366 * day, false, false},
		{"lockout", Rule{Lockout: &yes}, 366 * day, false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if bound, stated := test.rule.maxTTL(); bound != test.maxTTL || stated != test.stated {
				t.Errorf("max TTL %v, stated %v", bound, stated)
			}
			shown := test.rule.WithDefaults()
			if time.Duration(shown.MaxTTL) != test.maxTTL || *shown.Lockout != test.lockout || shown.TTL != Expected || shown.Counts != Up {
				t.Errorf("%+v", shown)
			}
			if test.rule.TTL != "" || test.rule.Counts != "" {
				t.Error("the rule itself was changed")
			}
		})
	}
	if shown := (Rule{TTL: Persistent, Counts: Down}).WithDefaults(); shown.TTL != Persistent || shown.Counts != Down {
		t.Errorf("what was said is lost: %+v", shown)
	}
}

func FuzzParseGroups(f *testing.F) {
	for _, seed := range []string{
		"", "ocr=rate_limit:*@60s,flags:*@persistent", "a=b=c@1w2d", "[a-z@]*@1h", "=@,", "(x)=y", "a\xff@5m", "a@1e9h",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseGroups(text)
		if err != nil {
			return
		}
		if err := ValidateRules(rules); err != nil {
			t.Error(err)
		}
		for _, r := range rules {
			if bound, _ := r.maxTTL(); bound <= 0 || len(r.Match) != 1 || r.Match[0] == "" {
				t.Errorf("%+v is bounded by %v", r, bound)
			}
		}
		New(rules, nil).Group(text, "")
	})
}

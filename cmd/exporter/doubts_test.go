package main

import (
	"strings"
	"testing"

	"keyhealth/collector/classify"
)

func TestDoubts(t *testing.T) {
	for _, c := range []struct{ groups, want string }{
		{"a=limit:*@60s,b=limit:ocr:*@60s", "group b gets no keys: a comes first"},
		{"all=*,b=x", "group b gets no keys: all comes first"},
		{"a=limit:*@60s,b=limit:*", "group b gets no keys"},
		{`a=^limit:.*@60s`, "group a: ^limit:.* looks like a regular expression"},
		{`a=limit:\d+`, "looks like a regular expression"},
		{"a=limit:(x|y)", "looks like a regular expression"},
		{"a=limit:[0-9", `"[" is never closed`},
		{"a=limit:[0-9]+", "looks like a regular expression"},
		{"a=limit:[0-9]{3}", "looks like a regular expression"},
		{"a=limit:(a)?", "looks like a regular expression"},
		{"a=limit:(?:a)", "looks like a regular expression"},
		{"a=limit:@60s", "group a: limit: has no wildcard: it is one key, or a * is missing"},
		{"ocr=rate_limit:*@60s@persistent", "group ocr: @60s is part of the glob rate_limit:*@60s: "},
		{"ocr=rate_limit:*@persistent@60s", "group ocr: @persistent is part of the glob"},
		{"a={x,y}:*", "braces do not match"},
		{"b=limit:ocr:*@60s,a=limit:*@60s", ""},
		{"a=limit:?*@60s,b=limit:*", ""},
		{"a={user}:*@60s,b=v1.2:*", ""},
		{`a=limit:\[*`, ""},
		{"a=limit:[0-9]*,b=mail:*@example.org@60s", ""},
		{"a=flag:dark@persistent", ""},
	} {
		rules, err := classify.ParseGroups(c.groups)
		if err != nil {
			t.Fatalf("%s: %v", c.groups, err)
		}
		got := strings.Join(doubts(rules), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.groups, got, c.want)
		}
	}
	// One of several globs is enough to get keys.
	if got := doubts([]classify.Rule{{Name: "a", Match: classify.Globs{"x*"}}, {Name: "b", Match: classify.Globs{"xy*", "z*"}}}); got != nil {
		t.Errorf("%q", got)
	}
}

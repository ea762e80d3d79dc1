package classify

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"keyhealth/internal/redistest"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern string
		match   []string
		other   []string
	}{
		{"", []string{""}, []string{"a"}},
		{"*", []string{"", "a", "\n", "\xff\x00"}, nil},
		{"a", []string{"a"}, []string{"", "A", "aa", "b"}},
		{"rate_limit:*", []string{"rate_limit:", "rate_limit:1"}, []string{"rate_limit", "xrate_limit:1"}},
		{"*:count", []string{":count", "a:count:count"}, []string{"a:count:", "count"}},
		{"a**b", []string{"ab", "aab", "a*b"}, []string{"a", "abc"}},
		{"a*b*c", []string{"abc", "abbcc", "a-b-c"}, []string{"acb", "abcd"}},
		{"h?llo", []string{"hello", "h\nllo", "h\xffllo"}, []string{"hllo", "heello", "h\u00e9llo"}},
		{"?", []string{"a", "\xff"}, []string{"", "ab"}},
		{"h[ae]llo", []string{"hello", "hallo"}, []string{"hillo", "hllo", "haello"}},
		{"[^a]", []string{"b", "^", "]"}, []string{"a", ""}},
		{"[a^]", []string{"a", "^"}, []string{"b"}},
		{"[a-c]", []string{"a", "b", "c"}, []string{"d", "-"}},
		{"[c-a]", []string{"a", "b", "c"}, []string{"d", "-"}},
		{"[^a-c]x", []string{"dx", "-x"}, []string{"ax", "bx", "x"}},
		{"[a-]", []string{"a", "^", "]"}, []string{"-", "b"}}, // a range up to ], in a bracket that is never closed
		{"[a-", []string{"a", "-"}, []string{"b", "["}},
		{"[ab", []string{"a", "b"}, []string{"[ab", "c"}},
		{"[", nil, []string{"[", "a", ""}},
		{"[^", []string{"a", "["}, []string{""}},
		{"[]a]", nil, []string{"]a]", "a]", "a"}}, // an empty bracket matches nothing
		{"[^]a", []string{"xa", "]a"}, []string{"a"}},
		{`[\]]`, []string{"]"}, []string{`\`, "a"}},
		{`[\^a]`, []string{"^", "a"}, []string{`\`, "b"}},
		{`[a\-c]`, []string{"a", "-", "c"}, []string{"b"}},
		{`\*`, []string{"*"}, []string{"a", `\*`, ""}},
		{`a\?\[b\]`, []string{"a?[b]"}, []string{"axb", `a\?\[b\]`}},
		{`a\`, []string{`a\`}, []string{"a"}},
		{`\\`, []string{`\`}, []string{`\\`}},
		{"\xff*\xfe", []string{"\xff\xfe", "\xff\xff\xfe"}, []string{"\xff", "\xfd\xfe"}},
		{"[\x80-\xff]*", []string{"\x80", "\xc3\xa9"}, []string{"\x7f", "a\xff"}},
	}
	for _, test := range tests {
		t.Run(test.pattern, func(t *testing.T) {
			g := compileGlob(test.pattern)
			for _, name := range test.match {
				if !g.match(name) {
					t.Errorf("%q does not match %q", test.pattern, name)
				}
			}
			for _, name := range test.other {
				if g.match(name) {
					t.Errorf("%q matches %q", test.pattern, name)
				}
			}
		})
	}
}

// A matcher that went back to every star, and not to the last one only, would
// try about (1 MB)^4 ways here: the test would not end.
func TestGlobDoesNotExplode(t *testing.T) {
	name := strings.Repeat("a", 1<<20)
	for _, pattern := range []string{"*a*a*a*a*b", "*?*?*?*?*b", "a*[a]*[^b]*a*b", strings.Repeat("*a", 500) + "*b"} {
		if g := compileGlob(pattern); g.match(name) || !g.match(name+"b") {
			t.Errorf("%.20q is wrong on a long name", pattern)
		}
	}
}

// naiveGlob is the definition, a case a rule, without any shortcut.
func naiveGlob(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	if pattern[0] == '*' {
		return naiveGlob(pattern[1:], name) || name != "" && naiveGlob(pattern, name[1:])
	}
	if name == "" {
		return false
	}
	switch {
	case pattern[0] == '?':
		return naiveGlob(pattern[1:], name[1:])
	case pattern[0] == '[' && strings.HasPrefix(pattern, "[^"):
		in, rest := naiveBracket(pattern[2:], name[0])
		return !in && naiveGlob(rest, name[1:])
	case pattern[0] == '[':
		in, rest := naiveBracket(pattern[1:], name[0])
		return in && naiveGlob(rest, name[1:])
	case pattern[0] == '\\' && len(pattern) > 1:
		pattern = pattern[1:]
	}
	return pattern[0] == name[0] && naiveGlob(pattern[1:], name[1:])
}

// naiveBracket says whether c is in the bracket that begins after [ or [^, and
// what of the pattern follows it.
func naiveBracket(pattern string, c byte) (in bool, rest string) {
	switch {
	case pattern == "":
		return false, ""
	case pattern[0] == ']':
		return false, pattern[1:]
	case pattern[0] == '\\' && len(pattern) > 1:
		in, rest = naiveBracket(pattern[2:], c)
		return in || c == pattern[1], rest
	case len(pattern) > 2 && pattern[1] == '-':
		in, rest = naiveBracket(pattern[3:], c)
		a, b := min(pattern[0], pattern[2]), max(pattern[0], pattern[2])
		return in || a <= c && c <= b, rest
	}
	in, rest = naiveBracket(pattern[1:], c)
	return in || c == pattern[0], rest
}

// randomBytes are up to longest bytes of an alphabet so small that random
// patterns meet random names.
func randomBytes(rng *rand.Rand, alphabet string, longest int) string {
	b := make([]byte, rng.IntN(longest+1))
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	patternBytes = "aabbc-^[]\\**?\x80\xff"
	nameBytes    = "aabbcc-^[]\\*\x80\xff"
)

func TestGlobAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	matched := 0
	for range 200_000 {
		pattern, name := randomBytes(rng, patternBytes, 9), randomBytes(rng, nameBytes, 6)
		want := naiveGlob(pattern, name)
		if g := compileGlob(pattern); g.match(name) != want {
			t.Fatalf("%q on %q: %v, want %v", pattern, name, !want, want)
		}
		if want {
			matched++
		}
	}
	if matched < 5_000 {
		t.Errorf("only %d pairs match: the test proves little", matched)
	}
}

// mixedRange says whether a pattern may hold a range from a byte below 0x80 to
// one above: Redis compares those as C's char, which is signed on some machines.
func mixedRange(pattern string) bool {
	for i := 1; i+1 < len(pattern); i++ {
		if pattern[i] == '-' && (pattern[i-1] < 0x80) != (pattern[i+1] < 0x80) {
			return true
		}
	}
	return false
}

func TestGlobAgainstRedis(t *testing.T) {
	server := redistest.Start(t)
	client, ctx := server.Client(t), context.Background()
	rng := rand.New(rand.NewPCG(2, 2))
	names := map[string]bool{}
	var pairs []any
	for len(names) < 400 {
		// Not the empty name: there "**" matches nothing in Redis, unlike "*".
		if name := randomBytes(rng, nameBytes, 6); name != "" && !names[name] {
			names[name] = true
			pairs = append(pairs, name, "")
		}
	}
	if err := client.MSet(ctx, pairs...).Err(); err != nil {
		t.Fatal(err)
	}
	pipe := client.Pipeline()
	scans := map[string]*redis.ScanCmd{}
	for len(scans) < 3000 {
		if pattern := randomBytes(rng, patternBytes, 8); pattern != "" && !mixedRange(pattern) {
			scans[pattern] = pipe.Scan(ctx, 0, pattern, 100_000)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	matched := 0
	for pattern, scan := range scans {
		found, next := scan.Val()
		if next != 0 {
			t.Fatal("one SCAN does not return every key")
		}
		said := map[string]bool{}
		for _, name := range found {
			said[name] = true
		}
		matched += len(said)
		g := compileGlob(pattern)
		for name := range names {
			if g.match(name) != said[name] {
				t.Errorf("%s on %s: Redis says %v", strconv.Quote(pattern), strconv.Quote(name), said[name])
			}
		}
	}
	if matched < 10_000 {
		t.Errorf("only %d matches: the test proves little", matched)
	}
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"rate_limit:*", "rate_limit:1"}, {"[^a-c]\\", "x\\"}, {"[a-", "-"}, {"a*b*c", "abc"}, {"\xff?[", "\xffa"}, {"[\\]-a]*", "]"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g := compileGlob(pattern)
		got := g.match(name)
		if len(name) > 24 || strings.Count(pattern, "*") > 4 {
			return // the definition takes too many steps
		}
		if want := naiveGlob(pattern, name); got != want {
			t.Errorf("%q on %q: %v, want %v", pattern, name, got, want)
		}
	})
}

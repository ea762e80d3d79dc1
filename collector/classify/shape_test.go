package classify

import (
	"strings"
	"testing"
)

func shown(parts []Part) string {
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.String())
	}
	return text.String()
}

func TestShape(t *testing.T) {
	d := DefaultDiscovery()
	d.Allow = []string{"2fa"}
	shaper := NewShaper(d)
	uuid := "550e8400-e29b-41d4-a716-446655440000"
	for name, want := range map[string]string{
		"session:42:1700000000":              "session:*:*",
		"limit:alice":                        "limit:*",
		"config":                             "*",
		"":                                   "*",
		"TOTAL_42":                           "TOTAL_*",
		"TOTAL_alice":                        "*",
		"42:TOTAL_42":                        "*:TOTAL_*",
		"rate:TOTAL_42":                      "rate:*",
		"user_42:sessions:9":                 "user_*:sessions:*",
		"fastify-rate-limit-1.2.3.4":         "fastify-rate-limit-*",
		"fastify-rate-limit-1.2.3.4:login":   "fastify-rate-limit-*:*",
		"fastify-rate-limit-2001:db8::1":     "fastify-rate-limit-*",
		"rl:2001:db8::1":                     "rl:*",
		"rl:2001:db8::1:login":               "rl:*:*",
		"rl:::1":                             "rl:*",
		"rl:::ffff:1.2.3.4:x":                "rl:*:*",
		"10.0.0.1:80":                        "*:*",
		"rl:10:20:30":                        "rl:*:*:*",
		"user-" + uuid:                       "user-*",
		uuid + ":cart":                       "*:*",
		"a:b:c:d:e":                          "a:b:c:*",
		"app.v1.orders.7":                    "app.v1.orders.*",
		"api|v2/users:7":                     "api|v2/users:*",
		"oauth2:user1234:x":                  "oauth2:*:*",
		"alice@example.com:cart":             "*.com:*",
		"{user:42}:x":                        "*:*:*",
		"rl:{alice}:minute":                  "rl:*:*",
		"m\u00fcller:x":                      "*:*",
		"\xff\xfe:x":                         "*:*",
		"a\nb:x":                             "*:*",
		"a::b":                               "a:*:*",
		":x":                                 "*:*",
		"__cache_7:x":                        "__cache_*:*",
		"_:x":                                "_:*",
		"2fa:alice":                          "2fa:*",
		"3fa:alice":                          "*:*",
		strings.Repeat("x", 1<<16) + ":cart": "*:*",
		"deadbeef0123456789abcdef:cart":      "*:*",
		"order-2024-01-05:x":                 "order-*:*",
		"sess_" + strings.Repeat("Q", 60):    "*",
	} {
		if got := shown(shaper.Shape(name, nil)); got != want {
			t.Errorf("shape of %.40q = %q, want %q", name, got, want)
		}
	}
}

// FuzzShape: whatever a name is, its shape is bounded and made of words.
func FuzzShape(f *testing.F) {
	for _, seed := range []string{"session:42:1700000000", "rl:2001:db8::1:x", "fastify-rate-limit-1.2.3.4", "a_-b", "::", "\xff"} {
		f.Add(seed)
	}
	shaper := NewShaper(DefaultDiscovery())
	f.Fuzz(func(t *testing.T, name string) {
		parts := shaper.Shape(name, nil)
		if len(parts) == 0 || len(parts) > shaper.depth+1 {
			t.Fatalf("%d parts", len(parts))
		}
		if last := parts[len(parts)-1]; !last.ID || last.Sep != 0 {
			t.Errorf("the last part %+v shows the end of the name", last)
		}
		for _, p := range parts {
			if len(p.Text) > longestWord || strings.Trim(p.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("%q is no word", p.Text)
			}
			digits := 0
			for _, c := range p.Text {
				if c >= '0' && c <= '9' {
					digits++
				} else if digits = 0; digits > digitsInWord {
					t.Errorf("%q holds a number", p.Text)
				}
			}
		}
	})
}

// This file owns what holds for all broken limiters: that each has the faults it
// is listed with, is left as README.md says, and is described there.

package flawed_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"keyhealth/limiter/flawed"
	"keyhealth/limiter/internal/limitertest"
)

// TestAllHaveTheirFaults puts each limiter through the scenario that the
// reference limiter passes. It fails when a flaw is gone, and when there is one
// more than is told.
func TestAllHaveTheirFaults(t *testing.T) {
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		for _, c := range flawed.All() {
			t.Run(c.Name, func(t *testing.T) {
				got := limitertest.Run(t, s, limitertest.Candidate{
					New: func(h flawed.Hook) flawed.Limiter {
						return c.New(s.Client, flawed.Options{Limit: limit, Window: window, Hook: h})
					},
					Key:    c.Key,
					Limit:  limit,
					MaxTTL: window,
				})
				want := slices.Sorted(slices.Values(c.Faults))
				if !slices.Equal(got, want) {
					t.Errorf("the scenario sees %q, want %q", got, want)
				}
			})
		}
	})
}

// TestBreak wants of each limiter's key what README.md says is seen in Redis.
func TestBreak(t *testing.T) {
	want := map[string]limitertest.Key{
		"incr-then-expire":        {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"check-then-incr":         {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"exists-then-incr":        {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"exists-ttl-then-incr":    {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"ttl-then-set":            {Type: "string", Value: "1", TTL: window},
		"expire-when-one":         {Type: "string", Value: "2", TTL: limitertest.NoTTL},
		"limit-minus-one":         {Type: "string", Value: "5", TTL: window},
		"separate-check":          {Type: "string", Value: "6", TTL: window},
		"bucket-rate-zero":        {Type: "hash", Value: "map[at:N tokens:4]", TTL: limitertest.NoTTL},
		"refund":                  {Type: "string", Value: "-1", TTL: limitertest.NoTTL},
		"profile":                 {Type: "hash", Value: "map[calls:1 name:alice plan:free]", TTL: limitertest.NoTTL},
		"expire-then-write":       {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"first-hit-never":         {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"client-clock":            {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"milliseconds-as-seconds": {Type: "string", Value: "1", TTL: 1000 * window},
		"read-modify-set":         {Type: "string", Value: "2", TTL: limitertest.NoTTL},
		"short-lived-bucket":      {Type: "hash", Value: "map[at:N tokens:4]", TTL: window},
		"renewed-window":          {Type: "string", Value: "6", TTL: window},
		"window-index":            {Type: "string", Value: "1", TTL: limitertest.NoTTL},
		"new-type":                {Type: "string", Value: "5", TTL: window},
	}
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		for _, c := range flawed.All() {
			t.Run(c.Name, func(t *testing.T) {
				if err := c.Break(t.Context(), s.Client, flawed.Options{Limit: limit, Window: window}, subject); err != nil {
					t.Fatal(err)
				}
				got := s.Look(t, c.Key(subject))
				got.Value = regexp.MustCompile(`at:\d+`).ReplaceAllString(got.Value, "at:N")
				if got.TTL > 0 {
					got.TTL = (got.TTL + window - 1).Truncate(window) // some of it has passed
				}
				if got != want[c.Name] {
					t.Errorf("the key is %+v, want %+v", got, want[c.Name])
				}
				if zombie := got.TTL == limitertest.NoTTL; zombie != (c.Faults[0] == flawed.Zombie) {
					t.Errorf("a key without TTL: %v, but the first fault is %q", zombie, c.Faults[0])
				}
			})
		}
	})
}

func TestAllAreDescribed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var names, prefixes []string
	at := 0
	for _, c := range flawed.All() {
		names, prefixes = append(names, c.Name), append(prefixes, c.Prefix)
		i := strings.Index(string(readme), "\n## "+c.Name+"\n")
		if i < at {
			t.Errorf("README.md has no chapter %q, or not in the order of All", c.Name)
		}
		at = max(at, i)
		if !strings.Contains(string(readme), "`"+c.Pattern()+"`") {
			t.Errorf("README.md does not name the keys %s", c.Pattern())
		}
		if c.Story == "" || strings.HasSuffix(c.Story, ".") || len(c.Faults) == 0 {
			t.Errorf("%s: story %q, faults %q", c.Name, c.Story, c.Faults)
		}
	}
	for _, list := range [][]string{names, prefixes} {
		slices.Sort(list)
		if len(slices.Compact(list)) != len(flawed.All()) {
			t.Errorf("not unique: %q", list)
		}
	}
}

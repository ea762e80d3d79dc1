package flawed_test

import (
	"testing"

	"keyhealth/limiter/internal/limitertest"
)

func TestProfile(t *testing.T) {
	forCase(t, "profile", func(c onCase) {
		c.wantAllowed(c.limiter(nil), 2*limit, limit)
		want := limitertest.Key{Type: "hash", Value: "map[calls:10 name:alice plan:free]", TTL: limitertest.NoTTL}
		if got := c.Look(c.T, c.Key(subject)); got != want {
			c.Errorf("the key is %+v, want %+v", got, want)
		}
	})
}

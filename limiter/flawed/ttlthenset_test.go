package flawed_test

import (
	"testing"
	"time"

	"keyhealth/limiter/flawed"
)

func TestTTLThenSet(t *testing.T) {
	forCase(t, "ttl-then-set", func(c onCase) {
		l := c.limiter(nil)
		full := func() {
			if err := c.Client.Set(c.Context(), c.Key(subject), limit, window).Err(); err != nil {
				c.Fatal(err)
			}
			c.wantAllowed(l, 1, 0)
		}
		again := 0
		c.Nearly(c.T, c.Key(subject), 400*time.Millisecond, full, func() { again = c.allowed(l, limit) })
		if again != limit {
			c.Errorf("with 400 ms left %d more calls were allowed, want the limit of %d once more", again, limit)
		}
		c.wantCount("5")
	})
}

func TestTTLThenSetIsStillARace(t *testing.T) {
	forCase(t, "ttl-then-set", func(c onCase) {
		c.wantAllowed(c.limiter(nil), 2, 2)
		c.wantAllowed(c.limiter(c.ExpireAt(flawed.StepTTL)), 1, 1)
		c.wantZombie("1")

		// It repairs itself, if the caller comes back.
		c.wantAllowed(c.limiter(nil), 1, 1)
		c.wantCount("1")
	})
}

package flawed_test

import (
	"context"
	"testing"

	"keyhealth/limiter/flawed"
)

func TestCheckThenIncr(t *testing.T) {
	forCase(t, "check-then-incr", func(c onCase) {
		c.wantAllowed(c.limiter(nil), 2, 2)
		c.wantCount("2")
		c.wantAllowed(c.limiter(c.ExpireAt(flawed.StepWork)), 1, 1)
		c.wantZombie("1")

		// Locked out from the fifth call on, with a count that stands still.
		c.wantAllowed(c.limiter(nil), 2*limit, limit-1)
		c.wantZombie("5")
	})
}

func TestCheckThenIncrAllowsWhoComesDuringTheWork(t *testing.T) {
	forCase(t, "check-then-incr", func(c onCase) {
		other := c.limiter(nil)
		l := c.limiter(func(context.Context, flawed.Step) error {
			c.wantAllowed(other, limit, limit)
			return nil
		})
		c.wantAllowed(l, 1, 1)
		c.wantCount("6")
	})
}

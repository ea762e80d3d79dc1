package flawed_test

import (
	"context"
	"testing"

	"keyhealth/limiter/flawed"
)

func TestExistsThenIncr(t *testing.T) {
	forCase(t, "exists-then-incr", func(c onCase) {
		c.wantAllowed(c.limiter(nil), limit+1, limit)
		c.wantCount("6")
		c.wantAllowed(c.limiter(c.ExpireAt(flawed.StepExists)), 1, 1)
		c.wantZombie("1")
		c.wantAllowed(c.limiter(nil), 2*limit, limit-1)
		c.wantZombie("11")
	})
}

func TestExistsThenIncrForgetsWhoCountedMeanwhile(t *testing.T) {
	forCase(t, "exists-then-incr", func(c onCase) {
		other := c.limiter(nil)
		l := c.limiter(func(context.Context, flawed.Step) error {
			c.wantAllowed(other, limit, limit)
			return nil
		})
		c.wantAllowed(l, 1, 1)
		c.wantCount("1")
	})
}

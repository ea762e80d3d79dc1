package flawed_test

import (
	"context"
	"testing"

	"keyhealth/limiter/flawed"
)

func TestSeparateCheck(t *testing.T) {
	forCase(t, "separate-check", func(c onCase) {
		other := c.limiter(nil)
		c.wantAllowed(other, limit-1, limit-1)
		l := c.limiter(func(context.Context, flawed.Step) error {
			c.wantAllowed(other, 2, 1)
			return nil
		})
		c.wantAllowed(l, 1, 1)
		c.wantCount("6")
	})
}

func TestSeparateCheckRepairsOnlyWhatItAllows(t *testing.T) {
	forCase(t, "separate-check", func(c onCase) {
		c.set(limit - 1)
		c.wantAllowed(c.limiter(nil), 1, 1)
		c.wantCount("5")
		c.set(limit)
		c.wantAllowed(c.limiter(nil), 1, 0)
		c.wantZombie("5")
	})
}

func TestSeparateCheckSurvivesAnExpiry(t *testing.T) {
	forCase(t, "separate-check", func(c onCase) {
		c.wantAllowed(c.limiter(nil), 1, 1)
		c.wantAllowed(c.limiter(c.ExpireAt(flawed.StepWork)), 1, 1)
		c.wantCount("1")
	})
}

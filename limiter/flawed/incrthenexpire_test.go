package flawed_test

import (
	"context"
	"errors"
	"testing"

	"keyhealth/limiter/flawed"
)

func TestIncrThenExpire(t *testing.T) {
	forCase(t, "incr-then-expire", func(c onCase) {
		lost := errors.New("the connection is lost")
		l := c.limiter(func(_ context.Context, at flawed.Step) error {
			if at.Name == flawed.StepIncr {
				return lost
			}
			return nil
		})
		if _, err := l.Allow(c.Context(), subject); !errors.Is(err, lost) {
			c.Fatalf("the call ended with %v, want %v", err, lost)
		}
		c.wantZombie("1")

		// The calls after it arrive whole: four more pass, then none.
		sound := c.limiter(nil)
		c.wantAllowed(sound, 2*limit, limit-1)
		c.wantZombie("11")
	})
}

package flawed_test

import (
	"context"
	"errors"
	"testing"

	"keyhealth/limiter/flawed"
)

func TestRefund(t *testing.T) {
	forCase(t, "refund", func(c onCase) {
		failed := errors.New("the work failed")
		inTime := c.limiter(func(context.Context, flawed.Step) error { return failed })
		if _, err := inTime.Allow(c.Context(), subject); !errors.Is(err, failed) {
			c.Fatalf("the call ended with %v, want %v", err, failed)
		}
		c.wantCount("0")

		late := c.limiter(func(ctx context.Context, at flawed.Step) error {
			return errors.Join(failed, c.Expire(ctx, at.Key))
		})
		if _, err := late.Allow(c.Context(), subject); !errors.Is(err, failed) {
			c.Fatalf("the call ended with %v, want %v", err, failed)
		}
		c.wantZombie("-1")

		// One call more than the limit passes, then none ever.
		c.wantAllowed(c.limiter(nil), 2*limit, limit+1)
		c.wantZombie("9")
	})
}

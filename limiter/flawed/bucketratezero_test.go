package flawed_test

import (
	"strings"
	"testing"
	"time"

	"keyhealth/limiter/flawed"
	"keyhealth/limiter/internal/limitertest"
)

func TestBucketRateZero(t *testing.T) {
	forCase(t, "bucket-rate-zero", func(c onCase) {
		_, err := c.limiter(nil).Allow(c.Context(), subject)
		if err == nil || !strings.Contains(err.Error(), "not an integer") {
			c.Errorf("EXPIRE was not refused: %v", err)
		}
		got := c.Look(c.T, c.Key(subject))
		if got.Type != "hash" || got.TTL != limitertest.NoTTL || !strings.Contains(got.Value, "tokens:4") {
			c.Errorf("the key is %+v, want a hash with 4 tokens and no TTL", got)
		}
	})
}

// With a call a second the bucket is sound: the rate is what breaks it.
func TestBucketWithARate(t *testing.T) {
	forCase(t, "bucket-rate-zero", func(c onCase) {
		l := c.New(c.Client, flawed.Options{Limit: 3600, Window: window})
		c.wantAllowed(l, 1, 1)
		if got := c.Look(c.T, c.Key(subject)); got.TTL <= 0 || got.TTL > 7200*time.Second {
			c.Errorf("the key is %+v, want a TTL of twice the hour it takes to fill", got)
		}
	})
}

package flawed_test

import "testing"

func TestLimitMinusOne(t *testing.T) {
	forCase(t, "limit-minus-one", func(c onCase) {
		l := c.limiter(nil)
		c.wantAllowed(l, limit, limit-1)
		c.wantCount("5")
		c.set(limit)
		c.wantAllowed(l, limit, 0)
		c.wantZombie("10")
	})
}

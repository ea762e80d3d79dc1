package flawed_test

import "testing"

func TestExpireWhenOne(t *testing.T) {
	forCase(t, "expire-when-one", func(c onCase) {
		l := c.limiter(nil)
		c.wantAllowed(l, limit+1, limit)
		c.wantCount("6")
		c.set(limit)
		c.wantAllowed(l, 2*limit, 0)
		c.wantZombie("15")
	})
}

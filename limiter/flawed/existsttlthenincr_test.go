package flawed_test

import (
	"testing"

	"keyhealth/limiter/flawed"
)

func TestExistsTTLThenIncrIsStillARace(t *testing.T) {
	forCase(t, "exists-ttl-then-incr", func(c onCase) {
		c.wantAllowed(c.limiter(nil), 2, 2)
		c.wantAllowed(c.limiter(c.ExpireAt(flawed.StepTTL)), 1, 1)
		c.wantZombie("1")
	})
}

func TestExistsTTLThenIncrDoesNotCountWhatItRepairs(t *testing.T) {
	forCase(t, "exists-ttl-then-incr", func(c onCase) {
		c.set(99)
		c.wantAllowed(c.limiter(nil), 1, 1)
		c.wantCount("99")
	})
}

func TestExistsTTLThenIncrRepairsAKeyThatIsGone(t *testing.T) {
	forCase(t, "exists-ttl-then-incr", func(c onCase) {
		c.wantAllowed(c.limiter(nil), 1, 1)
		c.wantAllowed(c.limiter(c.ExpireAt(flawed.StepExists)), 1, 1)
		if got := c.Look(c.T, c.Key(subject)); got.Type != "none" {
			c.Errorf("the key is %+v, want none: the call was allowed and not counted", got)
		}
	})
}

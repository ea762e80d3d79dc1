package classify

import (
	"testing"
	"time"
)

func TestNameWindow(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		how  nameWindow
		name string
		want time.Duration // 0: the name tells none
	}{
		{windowUnit, "ratelimit:r:s:i:1700000040000:second", time.Second},
		{windowUnit, "ratelimit:r:s:i:1700000040000:minute", time.Minute},
		{windowUnit, "a:hour", time.Hour},
		{windowUnit, "a:day", day},
		{windowUnit, "a:week", 7 * day},
		{windowUnit, "a:month", 30 * day},
		{windowUnit, "a/year", 365 * day},
		{windowUnit, "minute", time.Minute},
		{windowUnit, "a:minutes", 0},
		{windowUnit, "a:minute:", 0},
		{windowUnit, "", 0},
		{windowMultiple, "LIMITER/i/s/10/1/minute", time.Minute},
		{windowMultiple, "LIMITER/i/s/10/5/minute", 5 * time.Minute},
		{windowMultiple, "LIMITS:{LIMITER/i/s/10/2/hour}", 2 * time.Hour},
		{windowMultiple, "LIMITS:{LIMITER/i/s/10/2/hour}/-1", 2 * time.Hour},
		{windowMultiple, "LIMITER/i/s/10/x/minute", 0},
		{windowMultiple, "LIMITER/i/s/10/-1/minute", 0},
		{windowMultiple, "LIMITER/i/s/10/1/fortnight", 0},
		{windowMultiple, "LIMITER/i/s/10/367/day", 0}, // longer than any
		{windowMultiple, "LIMITER/i/s/10/99999999999999999999/day", 0},
		{windowMultiple, "minute", 0},
		{windowJSON, `namespace:{n},counter:{"limit":{"namespace":"n","seconds":60,"conditions":[]}}`, time.Minute},
		{windowJSON, `{"seconds":86400}`, day},
		{windowJSON, `{"seconds":60`, 0},
		{windowJSON, `{"seconds":-60}`, 0},
		{windowJSON, `{"seconds":"60"}`, 0},
		{windowJSON, `{"seconds":0}`, 0},
		{windowJSON, `"seconds":`, 0},
		{windowJSON, "a:60", 0},
		{"", "a:minute", 0},
	} {
		got, found := test.how.in(test.name)
		if got != test.want || found != (test.want > 0) {
			t.Errorf("%s in %q: %v, %v, want %v", test.how, test.name, got, found, test.want)
		}
	}
}

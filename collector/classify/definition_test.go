package classify

import (
	"fmt"
	"testing"
	"time"
)

func TestLeaks(t *testing.T) {
	now := time.Unix(1_796_000_000, 0)
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	ago := func(window, age time.Duration) int64 { return now.Add(-age).UnixNano() / int64(window) }
	rack := &Definition{index: indexFirst}
	kong := &Definition{window: windowUnit, windowFits: 1}
	bounded := &Definition{index: indexLast, maxTTL: 25 * hour, stated: true}
	known := &Definition{index: indexLast, window: windowUnit, windowFits: 1} // no preset needs it: the window decides alone
	for _, test := range []struct {
		d             *Definition
		name          string
		leaked, timed bool
	}{
		{rack, "rack::attack:28333334:req/ip:1.2.3.4", true, true},
		{rack, fmt.Sprintf("rack::attack:%d:req/ip:1.2.3.4", ago(minute, 0)), false, true},
		{rack, fmt.Sprintf("rack::attack:%d:req/ip:1.2.3.4", ago(minute, 23*hour)), false, true},
		{rack, fmt.Sprintf("rack::attack:%d:req/ip:1.2.3.4", ago(minute, 25*hour)), true, true},
		{rack, fmt.Sprintf("rack::attack:%d:x", ago(5*minute, hour)), false, true},
		{rack, fmt.Sprintf("rack::attack:%d:x", ago(day, 12*hour)), false, true},
		{rack, fmt.Sprintf("rack::attack:%d:x", ago(day, 3*day)), true, true},
		{rack, fmt.Sprintf("rack::attack:%d:x", ago(30*day, 90*day)), true, true},
		{rack, fmt.Sprintf("rack::attack:%d:x", ago(minute, -minute)), false, true}, // a clock that is ahead
		{rack, "rack::attack:fail2ban:ban:alice", false, false},
		{rack, "rack::attack:99999999999999999999:x", false, false}, // no number of a window
		{kong, "ratelimit:r:s:i:1700000040000:minute", true, true},
		{kong, fmt.Sprintf("ratelimit:r:s:i:%d:minute", now.Add(-2*minute).UnixMilli()), true, true},
		{kong, fmt.Sprintf("ratelimit:r:s:i:%d:minute", now.Add(-30*time.Second).UnixMilli()), false, true},
		{kong, fmt.Sprintf("ratelimit:r:s:i:%d:hour", now.Add(-2*minute).UnixMilli()), false, true},
		{bounded, fmt.Sprintf("a:7:%d", ago(15*minute, 24*hour)), false, true},
		{bounded, fmt.Sprintf("a:7:%d", ago(15*minute, 26*hour)), true, true},
		{known, fmt.Sprintf("a:%d:minute", ago(minute, 3*minute)), true, true},
		{known, fmt.Sprintf("a:%d:minute", ago(minute, 0)), false, true},
		{known, fmt.Sprintf("a:%d:minute", ago(hour, 0)), true, true},
		{&Definition{}, "limiter:1.2.3.4", false, false},
		{&Definition{}, "limiter:1700000040", true, true},
		{&Definition{maxTTL: 100 * 365 * day, stated: true}, "limiter:1700000040", false, true},
	} {
		if leaked, timed := test.d.Leaks(test.name, now, false); leaked != test.leaked || timed != test.timed {
			t.Errorf("%s: leaked %v, timed %v, want %v, %v", test.name, leaked, timed, test.leaked, test.timed)
		}
		if leaked, timed := test.d.Leaks(test.name, time.Time{}, false); leaked || timed != test.timed {
			t.Errorf("%s: leaked %v, timed %v without the server's clock", test.name, leaked, timed)
		}
	}
}

func TestNameIndex(t *testing.T) {
	for _, test := range []struct {
		where nameIndex
		name  string
		want  int64 // -1: none
	}{
		{indexFirst, "rack::attack:28333334:req/ip:1.2.3.4", 28333334},
		{indexFirst, "v2:rack::attack:28333334:x", 28333334}, // part of a word
		{indexLast, "a:7:28333334", 28333334},
		{indexLast, "a:10.0.0.8.28333334.counter", 28333334},
		{indexLast, "a:7:x28333334", 7},
		{indexLast, "a:b", -1},
		{indexLast, "", -1},
		{indexFirst, "99999999999999999999:7", 7},
		{"", "a:7", -1},
	} {
		got, found := test.where.in(test.name)
		if !found {
			got = -1
		}
		if got != test.want {
			t.Errorf("%s of %q: %d, want %d", test.where, test.name, got, test.want)
		}
	}
}

func TestBoundDoesNotOverflow(t *testing.T) {
	d := &Definition{window: windowUnit, windowFits: 1e6}
	if bound, _ := d.Bound("a:year"); bound <= 0 {
		t.Errorf("%v", bound)
	}
}

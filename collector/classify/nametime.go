package classify

import (
	"strconv"
	"time"
)

// The unix times that a name can hold: from 10 digits of seconds (September
// 2001) to the end of 2099.
const (
	earliestNameTime = 1_000_000_000
	latestNameTime   = 4_102_444_800 - 1
)

// TimeIn is the latest unix time in a key's name, in seconds, milliseconds,
// microseconds or nanoseconds. Only a run of 10, 13, 16 or 19 digits counts
// that is bounded by bytes which are neither letter nor digit, so digits inside
// a UUID, a ULID or a hash are never a time.
func TimeIn(name string) (at time.Time, found bool) {
	for i := 0; i < len(name); {
		if !isWordByte(name[i]) {
			i++
			continue
		}
		start, digits := i, true
		for i < len(name) && isWordByte(name[i]) {
			digits = digits && name[i] <= '9'
			i++
		}
		if !digits {
			continue
		}
		if t, ok := unixTime(name[start:i]); ok && (!found || t.After(at)) {
			at, found = t, true
		}
	}
	return at, found
}

func unixTime(digits string) (time.Time, bool) {
	var unit time.Duration
	switch len(digits) {
	case 10:
		unit = time.Second
	case 13:
		unit = time.Millisecond
	case 16:
		unit = time.Microsecond
	case 19:
		unit = time.Nanosecond
	default:
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	perSecond := int64(time.Second / unit)
	if err != nil || n/perSecond < earliestNameTime || n/perSecond > latestNameTime {
		return time.Time{}, false
	}
	return time.Unix(n/perSecond, n%perSecond*int64(unit)), true
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

package classify

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestNameTime(t *testing.T) {
	at := func(s, ns int64) time.Time { return time.Unix(s, ns) }
	tests := []struct {
		name string
		want time.Time // zero: none
	}{
		{"", time.Time{}},
		{"rate_limit:42", time.Time{}},

		// The units.
		{"rl:1700000000", at(1700000000, 0)},
		{"rl:1700000000123", at(1700000000, 123_000_000)},
		{"rl:1700000000123456", at(1700000000, 123_456_000)},
		{"rl:1700000000123456789", at(1700000000, 123_456_789)},

		// The bounds: the first second of ten digits, and the last of 2099.
		{"999999999", time.Time{}},
		{"0999999999", time.Time{}},
		{"1000000000", at(1_000_000_000, 0)},
		{"4102444799", at(4_102_444_799, 0)},
		{"4102444800", time.Time{}},
		{"9999999999", time.Time{}},
		{"0999999999999", time.Time{}},
		{"1000000000000", at(1_000_000_000, 0)},
		{"4102444799999", at(4_102_444_799, 999_000_000)},
		{"4102444800000", time.Time{}},
		{"4102444799999999", at(4_102_444_799, 999_999_000)},
		{"4102444800000000", time.Time{}},
		{"0999999999999999999", time.Time{}},
		{"4102444799999999999", at(4_102_444_799, 999_999_999)},
		{"4102444800000000000", time.Time{}},
		{"9999999999999999999", time.Time{}}, // more than an int64 holds

		// Other lengths are no times.
		{"17000000001", time.Time{}},
		{"170000000012", time.Time{}},
		{"17000000001234", time.Time{}},
		{"170000000012345", time.Time{}},
		{"17000000001234567", time.Time{}},
		{"17000000001234567890", time.Time{}},

		// What bounds a run of digits.
		{"1700000000:a", at(1700000000, 0)},
		{"a_1700000000_b", at(1700000000, 0)},
		{"a-1700000000-b", at(1700000000, 0)},
		{"a/1700000000.5", at(1700000000, 0)},
		{"{u1}:1700000000", at(1700000000, 0)},
		{"\xff1700000000\x00", at(1700000000, 0)},
		{"a\u00e91700000000", at(1700000000, 0)},
		{"a1700000000", time.Time{}},
		{"1700000000a", time.Time{}},
		{"1700000000Z", time.Time{}},
		{"x1700000000:1700000001", at(1700000001, 0)},

		// The latest of several.
		{"1700000000:1700000060", at(1700000060, 0)},
		{"1700000060:1700000000", at(1700000060, 0)},
		{"1700000000:1700000000001", at(1700000000, 1_000_000)},
		{"1700000000:4102444800", at(1700000000, 0)},

		// Names made fresh per request that are no times.
		{"req:550e8400-e29b-41d4-a716-446655440000", time.Time{}},
		{"req:12345678-1234-1234-1234-123456789012", time.Time{}},
		{"req:12345678123412341234123456789012", time.Time{}},
		{"req:01ARZ3NDEKTSV4RRFFQ69G5FAV", time.Time{}},
		{"req:5f3759df1700000000", time.Time{}},
		{"req:1700000000abcdef", time.Time{}},
		{"ip:10.0.0.1", time.Time{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, found := TimeIn(test.name)
			if found != !test.want.IsZero() || !got.Equal(test.want) {
				t.Errorf("%v, %v, want %v", got, found, test.want)
			}
		})
	}
}

func FuzzNameTime(f *testing.F) {
	for _, seed := range []string{
		"rl:1700000000", "a_1700000000123-b", "4102444800", "550e8400-e29b-41d4-a716-446655440000", "1700000000:1700000060", "\xff1700000000123456789",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		at, found := TimeIn(name)
		if !found {
			if !at.IsZero() {
				t.Errorf("%v although there is none", at)
			}
		} else if at.Unix() < earliestNameTime || at.Unix() > latestNameTime || !holdsTime(name, at) {
			t.Errorf("%q does not hold %v", name, at)
		}
		// A later time beside it is found, an earlier one changes nothing.
		if got, ok := TimeIn(name + ":4102444799999999999"); !ok || got.UnixNano() != 4102444799999999999 {
			t.Errorf("the latest is %v, %v", got, ok)
		}
		if got, ok := TimeIn("1000000000-" + name); !ok || found && !got.Equal(at) {
			t.Errorf("the latest is %v, %v", got, ok)
		}
	})
}

// holdsTime says whether a name has the digits of a time in one of the units.
func holdsTime(name string, at time.Time) bool {
	for _, n := range []int64{at.Unix(), at.UnixMilli(), at.UnixMicro(), at.UnixNano()} {
		if strings.Contains(name, strconv.FormatInt(n, 10)) {
			return true
		}
	}
	return false
}

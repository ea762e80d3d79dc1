package classify

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that is also read from days and weeks: "90s",
// "1.5h", "2d", "1w2d".
type Duration time.Duration

var daysAndWeeks = regexp.MustCompile(`[0-9.]+[dw]`)

// ParseDuration reads a Go duration that may also hold d (24 h) and w (7 d).
// It refuses negative ones.
func ParseDuration(s string) (time.Duration, error) {
	inNanoseconds := daysAndWeeks.ReplaceAllStringFunc(s, func(part string) string {
		unit := 24 * time.Hour
		if strings.HasSuffix(part, "w") {
			unit = 7 * 24 * time.Hour
		}
		n, err := strconv.ParseFloat(part[:len(part)-1], 64)
		if err != nil {
			return part // which is then refused
		}
		return strconv.FormatFloat(math.Round(n*float64(unit)), 'f', -1, 64) + "ns"
	})
	d, err := time.ParseDuration(inNanoseconds)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("not a duration such as 30s, 5m, 2h or 7d")
	}
	return d, nil
}

// UnmarshalText implements encoding.TextUnmarshaler, for settings and YAML.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText implements encoding.TextMarshaler: the shortest of the forms
// that UnmarshalText reads, such as "60s" as "1m" and "48h" as "2d".
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is the shortest form: 1m rather than 1m0s, 2d rather than 48h.
func (d Duration) String() string {
	if d != 0 && time.Duration(d)%(24*time.Hour) == 0 {
		return strconv.FormatInt(int64(time.Duration(d)/(24*time.Hour)), 10) + "d"
	}
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

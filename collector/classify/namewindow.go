// Windows in names: where a library writes the length of its window into the name.

package classify

import (
	"strconv"
	"strings"
	"time"
)

// nameWindow says how a name tells the window of its limit. Empty: it does not.
type nameWindow string

const (
	windowUnit     nameWindow = "unit"     // the last segment is a unit: ...:minute
	windowMultiple nameWindow = "multiple" // the last two are a number and a unit: .../10/1/minute
	windowJSON     nameWindow = "json"     // JSON holds its seconds: ..."seconds":60...
)

const longestWindow = 366 * 24 * time.Hour

// in is the window that the name tells.
func (w nameWindow) in(name string) (window time.Duration, found bool) {
	if w == "" {
		return 0, false
	}
	if w == windowJSON {
		return jsonSeconds(name)
	}
	// The limits library writes its previous window as .../minute}/-1.
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/-1"), "}")
	rest, last := lastSegment(name)
	switch w {
	case windowUnit:
		window = unit(last)
	case windowMultiple:
		_, count := lastSegment(rest)
		window = whole(count, unit(last))
	}
	return window, window > 0
}

// jsonSeconds is the number that follows "seconds": in a name.
func jsonSeconds(name string) (window time.Duration, found bool) {
	_, rest, _ := strings.Cut(name, `"seconds":`)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return 0, false // the number is not all there
	}
	window = whole(rest[:end], time.Second)
	return window, window > 0
}

func lastSegment(name string) (rest, last string) {
	at := strings.LastIndexAny(name, ":/")
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+1:]
}

// whole is count units, 0 for what is no count or no window.
func whole(count string, unit time.Duration) time.Duration {
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || time.Duration(n) > longestWindow/max(unit, 1) {
		return 0
	}
	return time.Duration(n) * unit
}

func unit(word string) time.Duration {
	switch word {
	case "second":
		return time.Second
	case "minute":
		return time.Minute
	case "hour":
		return time.Hour
	case "day":
		return 24 * time.Hour
	case "week":
		return 7 * 24 * time.Hour
	case "month":
		return 30 * 24 * time.Hour
	case "year":
		return 365 * 24 * time.Hour
	}
	return 0
}

package limiter

import (
	_ "embed" // for the script
	"errors"
	"time"
)

//go:embed slidingwindow.lua
var slidingWindowSource string

// tenths is how many parts a sliding window is counted in. More remember a call
// for less too long, and make the value longer.
const tenths = 10

// SlidingWindow allows no more than Limit calls in any stretch of time as long
// as Window, wherever it begins. For that it counts by tenths of a window, and
// remembers a call until all of its tenth is a window ago: for a tenth of the
// window longer than needed, at most. (The usual sliding counter of two windows
// guesses when the calls of the last one were made, and can allow nearly twice
// the limit if they were late in it.)
//
// Its key is a string named "<prefix>:{<subject>}:sliding:<window>" of up to
// eleven counts with the numbers of their tenths.
type SlidingWindow struct {
	// Limit is how many calls a subject may make in a Window: 1 to MaxLimit.
	Limit int64
	// Window is MinWindow to MaxWindow, in whole milliseconds.
	Window time.Duration
}

// MaxTTL implements [Policy]: the window and a tenth, in whole milliseconds.
func (p SlidingWindow) MaxTTL() time.Duration {
	return roundUp(p.Window+p.Window/tenths, time.Millisecond)
}

func (p SlidingWindow) window() (window, error) {
	return window{
		policy: "sliding",
		script: slidingWindowSource,
		name:   "sliding:" + windowName(p.Window),
		limit:  p.Limit,
		rate:   float64(p.Limit) / p.Window.Seconds(),
		ttl:    p.MaxTTL(),
		a:      (p.Window / tenths).Microseconds(),
		b:      tenths,
	}, errors.Join(checkLimit(p.Limit), checkWindow(p.Window))
}

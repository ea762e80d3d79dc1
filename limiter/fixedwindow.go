package limiter

import (
	_ "embed" // for the script
	"errors"
	"time"
)

//go:embed fixedwindow.lua
var fixedWindowSource string

// FixedWindow allows Limit calls a window, which starts with the first call
// that is counted and ends Window later. Like every fixed window it can allow
// up to twice the limit around the end of one: the last calls of a window and
// the first of the next.
//
// Its key is a string named "<prefix>:{<subject>}:fixed:<window>", the count,
// with the rest of the window as its TTL.
type FixedWindow struct {
	// Limit is how many calls a subject may make a window: 1 to MaxLimit.
	// Limiters with the same prefix and window share their counts, so a
	// changed limit applies to the window that is running.
	Limit int64
	// Window is from the first call that is counted until the count is
	// forgotten: MinWindow to MaxWindow, in whole milliseconds.
	Window time.Duration
}

// MaxTTL implements [Policy]: the window.
func (p FixedWindow) MaxTTL() time.Duration { return p.Window }

func (p FixedWindow) window() (window, error) {
	return window{
		policy: "fixed",
		script: fixedWindowSource,
		name:   "fixed:" + windowName(p.Window),
		limit:  p.Limit,
		rate:   float64(p.Limit) / p.Window.Seconds(),
		ttl:    p.MaxTTL(),
	}, errors.Join(checkLimit(p.Limit), checkWindow(p.Window))
}

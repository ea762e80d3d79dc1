// What a self-test of the limiter came to on a target. It is made by others,
// limiter/selftest; here it is only kept for the scrapes.

package collector

import "time"

// SelfTest is the outcome of one, and never changes.
type SelfTest struct {
	Ended  time.Time
	Took   time.Duration
	Checks []SelfTestCheck
}

// SelfTestCheck is one of its checks.
type SelfTestCheck struct {
	Name   string
	Passed bool // false also where the check could not be made
}

// SetSelfTest makes result the last one, at once. It may be called at any time,
// from any goroutine.
func (w *Watcher) SetSelfTest(result SelfTest) {
	w.publishing.Lock()
	defer w.publishing.Unlock()
	w.selfTest = &result
	snapshot := *w.latest.Load()
	snapshot.SelfTest = &result
	w.latest.Store(&snapshot)
}

package limiter

import (
	_ "embed" // for the script
	"fmt"
	"math/bits"
	"strconv"
	"time"
)

//go:embed tokenbucket.lua
var tokenBucketSource string

const (
	// MaxRefill is the largest [TokenBucket.Refill].
	MaxRefill = 1e9
	// maxUnits is the largest capacity in units of the script: 2^51, so that
	// two buckets of debt, and sums of that, stay below 2^53.
	maxUnits = 1 << 51
)

// TokenBucket allows Capacity calls at once, and as the bucket fills again
// Refill more each Every: evenly, not at once at the end of it. Tokens are
// counted in fractions that are exact at any rate, so nothing is rounded away.
//
// Its key is a string named "<prefix>:{<subject>}:bucket:<capacity>+<refill>/<every>":
// what is missing and since when. A full bucket has no key, and so the TTL is the
// time until it is full.
type TokenBucket struct {
	// Capacity is how many calls a full bucket allows: 1 to MaxLimit. Limiters
	// with the same prefix, Capacity, Refill and Every share their buckets, so a
	// changed one starts with a full bucket.
	Capacity int64
	// Refill is how many calls come back each Every: 1 to MaxRefill.
	Refill int64
	// Every is MinWindow to MaxWindow, in whole milliseconds. A bucket has to
	// be full after MaxWindow at the latest.
	Every time.Duration
}

// MaxTTL implements [Policy]: the whole seconds it takes to fill the bucket,
// twice. A TTL in the second half comes about only when a clock was set back,
// or by calls that were committed in a bucket that was empty by then.
func (p TokenBucket) MaxTTL() time.Duration {
	fill, err := p.fill()
	if err != nil {
		return 0
	}
	return 2 * roundUp(fill, time.Second)
}

// fill is how long it takes to fill an empty bucket, in whole microseconds,
// rounded up.
func (p TokenBucket) fill() (time.Duration, error) {
	if err := checkLimit(p.Capacity); err != nil {
		return 0, err
	}
	if p.Refill < 1 || p.Refill > MaxRefill {
		return 0, fmt.Errorf("%w: a refill of %d is not 1 to %d", ErrRate, p.Refill, int64(MaxRefill))
	}
	if err := checkWindow(p.Every); err != nil {
		return 0, err
	}
	refill, token := p.units()
	over, units := bits.Mul64(uint64(p.Capacity), uint64(token))
	if over != 0 || units > maxUnits {
		return 0, fmt.Errorf("%w: %d calls at %d each %v need larger numbers than a script has", ErrRate, p.Capacity, p.Refill, p.Every)
	}
	fill := (int64(units) + refill - 1) / refill
	if fill > MaxWindow.Microseconds() {
		return 0, fmt.Errorf("%w: %d calls at %d each %v take more than %v to fill", ErrRate, p.Capacity, p.Refill, p.Every, MaxWindow)
	}
	return time.Duration(fill) * time.Microsecond, nil
}

// units are how many units come back a microsecond, and how many a token has:
// the rate in lowest terms.
func (p TokenBucket) units() (refill, token int64) {
	a, b := p.Refill, p.Every.Microseconds()
	for b != 0 {
		a, b = b, a%b
	}
	return p.Refill / a, p.Every.Microseconds() / a
}

// name has all that MaxTTL depends on: else a bucket would take the sound key of
// a larger one for sick, and refill it.
func (p TokenBucket) name() string {
	return "bucket:" + strconv.FormatInt(p.Capacity, 10) + "+" + strconv.FormatInt(p.Refill, 10) + "/" + windowName(p.Every)
}

func (p TokenBucket) window() (window, error) {
	if _, err := p.fill(); err != nil {
		return window{}, err
	}
	refill, token := p.units()
	return window{
		policy: "bucket",
		script: tokenBucketSource,
		name:   p.name(),
		limit:  p.Capacity,
		rate:   float64(p.Refill) / p.Every.Seconds(),
		ttl:    p.MaxTTL(),
		a:      refill,
		b:      token,
	}, nil
}

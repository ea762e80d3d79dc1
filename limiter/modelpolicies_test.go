// This file owns the three policies of the model.

package limiter

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func ceilDiv(x, y int64) int64 { return (x + y - 1) / y }

type modelFixed struct {
	w     *modelWindow
	count int64
}

func (s *modelFixed) read(value string) (bool, bool) {
	if !regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`).MatchString(value) {
		return false, false
	}
	n, _ := strconv.ParseInt(value, 10, 64) // saturates
	s.count = n
	return true, n < 0
}

func (s *modelFixed) clear()           { s.count = 0 }
func (s *modelFixed) left() int64      { return max(s.w.limit-s.count, 0) }
func (s *modelFixed) wait(int64) int64 { return s.w.rest() }
func (s *modelFixed) reset() int64     { return s.w.rest() }

func (s *modelFixed) add(n int64) modelKey {
	switch {
	case s.w.fresh:
		s.count = n
		return modelKey{"string", strconv.FormatInt(n, 10), s.w.now/1000 + s.w.ttl.Milliseconds()}
	case s.count >= MaxLimit:
		return s.w.key
	}
	s.count += n
	return modelKey{"string", strconv.FormatInt(s.count, 10), s.w.key.when}
}

func (s *modelFixed) mark() int64 { return s.w.now/1000 + s.w.rest() }

func (s *modelFixed) holds(mark int64) bool {
	return !s.w.fresh && 2*max(s.w.key.when-mark, mark-s.w.key.when) <= min(2000, s.w.ttl.Milliseconds())
}

func (s *modelFixed) give(n, _ int64) modelKey {
	if s.count >= MaxLimit {
		return s.w.key
	}
	return modelKey{"string", strconv.FormatInt(s.count-min(n, s.count), 10), s.w.key.when}
}

type tenth struct{ slice, count int64 }

type modelSliding struct {
	w      *modelWindow
	tenths []tenth
}

func (s *modelSliding) slice() int64 { return s.w.now / s.w.a }

func (s *modelSliding) read(value string) (bool, bool) {
	s.tenths = nil
	if !regexp.MustCompile(`^([0-9]{1,16}:[0-9]{1,16} )+$`).MatchString(value) {
		return false, false
	}
	last := int64(-1)
	for part := range strings.FieldsSeq(value) {
		before, after, _ := strings.Cut(part, ":")
		slice, err1 := strconv.ParseInt(before, 10, 64)
		count, err2 := strconv.ParseInt(after, 10, 64)
		if cmp.Or(err1, err2) != nil || slice <= last || count < 1 || count > MaxLimit {
			return false, false
		}
		last = slice
		if s.slice()-slice <= tenths {
			s.put(min(slice, s.slice()), count)
		}
	}
	return true, false
}

func (s *modelSliding) put(slice, n int64) {
	if i := len(s.tenths) - 1; i >= 0 && s.tenths[i].slice == slice {
		s.tenths[i].count = min(s.tenths[i].count+n, MaxLimit)
		return
	}
	s.tenths = append(s.tenths, tenth{slice, n})
}

func (s *modelSliding) clear() { s.tenths = nil }

func (s *modelSliding) used() (used int64) {
	for _, t := range s.tenths {
		used += t.count
	}
	return used
}

func (s *modelSliding) left() int64 { return max(s.w.limit-s.used(), 0) }

func (s *modelSliding) ends(slice int64) int64 {
	return ceilDiv((slice+1+tenths)*s.w.a-s.w.now, 1000)
}

func (s *modelSliding) wait(cost int64) (wait int64) {
	used := s.used()
	for _, t := range s.tenths {
		if used+cost <= s.w.limit {
			break
		}
		wait, used = s.ends(t.slice), used-t.count
	}
	return wait
}

func (s *modelSliding) reset() int64 {
	if len(s.tenths) == 0 {
		return 0
	}
	return s.ends(s.tenths[len(s.tenths)-1].slice)
}

func (s *modelSliding) stored() modelKey {
	if len(s.tenths) == 0 {
		return noKey
	}
	value := ""
	for _, t := range s.tenths {
		value += fmt.Sprintf("%d:%d ", t.slice, t.count)
	}
	return modelKey{"string", value, s.w.now/1000 + s.reset()}
}

func (s *modelSliding) add(n int64) modelKey {
	s.put(s.slice(), n)
	return s.stored()
}

func (s *modelSliding) mark() int64 { return s.slice() }

func (s *modelSliding) find(mark int64) int {
	return slices.IndexFunc(s.tenths, func(t tenth) bool { return t.slice == min(mark, s.slice()) })
}

func (s *modelSliding) holds(mark int64) bool { return s.find(mark) >= 0 }

func (s *modelSliding) give(n, mark int64) modelKey {
	i := s.find(mark)
	if s.tenths[i].count -= n; s.tenths[i].count <= 0 {
		s.tenths = slices.Delete(s.tenths, i, i+1)
	}
	return s.stored()
}

// modelBucket counts in whole numbers of any size.
type modelBucket struct {
	w    *modelWindow
	debt *big.Int // units: a come back each microsecond, b are a token
}

func (s *modelBucket) units(tokens int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(tokens), big.NewInt(s.w.b))
}

// melted is what comes back from a moment until now.
func (s *modelBucket) melted(since int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(max(s.w.now-since, 0)), big.NewInt(s.w.a))
}

// set keeps the debt between a full bucket and one that owes another bucket.
func (s *modelBucket) set(debt *big.Int) {
	if debt.Sign() < 0 {
		debt = new(big.Int)
	}
	if most := s.units(2 * s.w.limit); debt.Cmp(most) > 0 {
		debt = most
	}
	s.debt = debt
}

func (s *modelBucket) read(value string) (bool, bool) {
	if !regexp.MustCompile(`^[0-9]{1,16} [0-9]{1,16}$`).MatchString(value) {
		return false, false
	}
	before, after, _ := strings.Cut(value, " ")
	debt, _ := new(big.Int).SetString(before, 10)
	at, _ := strconv.ParseInt(after, 10, 64)
	s.set(debt.Sub(debt, s.melted(at)))
	return true, false
}

func (s *modelBucket) clear() { s.debt = new(big.Int) }

func (s *modelBucket) left() int64 {
	room := new(big.Int).Sub(s.units(s.w.limit), s.debt)
	if room.Sign() < 0 {
		return 0
	}
	return room.Div(room, big.NewInt(s.w.b)).Int64()
}

// passes is how many ms it takes until units have come back.
func (s *modelBucket) passes(units *big.Int) int64 {
	if units.Sign() <= 0 {
		return 0
	}
	each := big.NewInt(1000 * s.w.a)
	units = new(big.Int).Add(units, new(big.Int).Sub(each, big.NewInt(1)))
	return units.Div(units, each).Int64()
}

func (s *modelBucket) wait(cost int64) int64 {
	return s.passes(new(big.Int).Sub(new(big.Int).Add(s.debt, s.units(cost)), s.units(s.w.limit)))
}

func (s *modelBucket) reset() int64 { return s.passes(s.debt) }

func (s *modelBucket) stored() modelKey {
	if s.debt.Sign() == 0 {
		return noKey
	}
	return modelKey{"string", fmt.Sprintf("%d %d", s.debt, s.w.now), s.w.now/1000 + s.reset()}
}

func (s *modelBucket) add(n int64) modelKey {
	s.set(new(big.Int).Add(s.debt, s.units(n)))
	return s.stored()
}

func (s *modelBucket) mark() int64      { return s.w.now }
func (s *modelBucket) holds(int64) bool { return true }

func (s *modelBucket) give(n, mark int64) modelKey {
	back := new(big.Int).Sub(s.units(n), s.melted(mark))
	if back.Sign() <= 0 || s.w.fresh { // a full bucket takes nothing
		return s.w.key
	}
	s.set(new(big.Int).Sub(s.debt, back))
	return s.stored()
}

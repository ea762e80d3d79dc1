// Ids in names: whether a name looks as if it was made for one request. What names
// tell of times is nametime.go.

package classify

// Kind says that a name looks as if it was made for one request only.
type Kind uint8

// A name counts under the first kind that it holds. Other packages know the kinds
// by number and KindNames; KindNone is how many there are.
const (
	kindUUID Kind = iota
	kindULID
	kindHex
	kindTimestamp
	KindNone
)

// KindNames are the values of the label kind.
var KindNames = [...]string{"uuid", "ulid", "hex", "timestamp"}

// Classes of bytes; one of none is neither a letter nor a digit.
const (
	digit        = 1 << iota
	hexLetter    // a to f
	base32Letter // the others of Crockford's alphabet, which has no i, l, o, u
	otherLetter
)

var byteClasses = func() (classes [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		classes[c] = digit
	}
	for c := 'a'; c <= 'z'; c++ {
		class := uint8(base32Letter)
		switch {
		case c <= 'f':
			class = hexLetter
		case c == 'i' || c == 'l' || c == 'o' || c == 'u':
			class = otherLetter
		}
		classes[c], classes[c-'a'+'A'] = class, class
	}
	return classes
}()

// KindOf looks at every run of letters and digits in a name.
func KindOf(name string) Kind {
	best := KindNone
	runs := 0 // of a UUID, that were met one after the other
	for i := 0; i < len(name); i++ {
		start, seen := i, uint8(0)
		for i < len(name) && byteClasses[name[i]] != 0 {
			seen |= byteClasses[name[i]]
			i++
		}
		run := name[start:i]
		best = min(best, runKind(run, seen))
		if runs = uuidRuns(runs, run, seen); runs == len(uuidLengths) {
			return kindUUID
		}
		if i < len(name) && name[i] != '-' {
			runs = 0
		}
	}
	return best
}

// runKind is the kind of one run, whose bytes are of the classes seen.
func runKind(run string, seen uint8) Kind {
	switch {
	case len(run) == 26 && seen&otherLetter == 0 && seen != digit && run[0] >= '0' && run[0] <= '7':
		return kindULID
	case len(run) >= 16 && seen == digit|hexLetter:
		return kindHex
	case seen == digit:
		if _, ok := unixTime(run); ok {
			return kindTimestamp
		}
	}
	return KindNone
}

// uuidLengths are the runs of hex digits between the dashes of a UUID.
var uuidLengths = [...]int{8, 4, 4, 4, 12}

// uuidRuns is how many runs of a UUID there are once run has followed as many.
func uuidRuns(runs int, run string, seen uint8) int {
	switch {
	case seen&(base32Letter|otherLetter) != 0 || run == "":
		return 0
	case len(run) == uuidLengths[runs]:
		return runs + 1
	case len(run) == uuidLengths[0]:
		return 1
	}
	return 0
}

// From a key's name to its shape: which of its segments are words that may be
// shown, and which are ids that never are. One name at a time; what many names
// have in common is found by package tally, discover.go.

package classify

import (
	"net/netip"
	"strings"
)

// Part is one segment of a shape: a word, a word before an id ("TOTAL_*"), or
// an id ("*"), with the separator that follows it (0: none).
type Part struct {
	Text string // what may be shown, aliasing the name; without the * of an id
	ID   bool   // an id follows the text, or is all there is
	Sep  byte
}

// String is the part as it is shown.
func (p Part) String() string {
	text := p.Text
	if p.ID {
		text += "*"
	}
	if p.Sep != 0 {
		text += string(rune(p.Sep))
	}
	return text
}

const (
	longestWord   = 48 // bytes; longer segments are ids
	digitsInWord  = 2  // "v1", "oauth2", "db01"; more digits make an id
	longestIPText = 45 // an IPv4 address in an IPv6 one
)

// Shaper reads shapes.
type Shaper struct {
	separators [256]bool
	depth      int
	allow      map[string]bool // segments that are shown whatever they look like
}

// NewShaper reads shapes as the settings want them.
func NewShaper(d Discovery) *Shaper {
	s := &Shaper{depth: d.Depth, allow: map[string]bool{}}
	for i := range len(d.Separators) {
		s.separators[d.Separators[i]] = true
	}
	for _, word := range d.Allow {
		s.allow[word] = true
	}
	return s
}

// Allows says whether a segment is shown whatever it looks like.
func (s *Shaper) Allows(text string) bool { return s.allow[text] }

// Shape appends the parts of a name to parts. The last segment is an id, or a
// word before one when no segment before it is a word; what lies deeper than
// the depth is one id.
func (s *Shaper) Shape(name string, parts []Part) []Part {
	words := false
	for rest := name; ; {
		if len(parts) == s.depth {
			return append(parts, Part{ID: true})
		}
		p, length := s.segment(rest)
		last := length == len(rest)
		if last && !(p.ID && p.Text != "" && !words) {
			p = Part{ID: true}
		}
		words = words || p.Text != ""
		if last {
			return append(parts, p)
		}
		p.Sep = rest[length]
		parts = append(parts, p)
		rest = rest[length+1:]
	}
}

// segment reads the segment that text begins with, and its length.
func (s *Shaper) segment(text string) (Part, int) {
	end := 0
	for {
		if end == 0 || text[end-1] == '_' || text[end-1] == '-' {
			if length := s.address(text[end:]); length > 0 {
				p := wordBefore(text[:end])
				p.ID = true
				return p, end + length
			}
		}
		if end == len(text) || s.separators[text[end]] {
			break
		}
		end++
	}
	if s.allow[text[:end]] {
		return Part{Text: text[:end]}, end
	}
	return wordBefore(text[:end]), end
}

// wordBefore is the longest run of words joined by _ or - at the beginning of a
// segment; what follows them is an id.
func wordBefore(segment string) Part {
	if len(segment) > longestWord {
		segment = segment[:longestWord]
		p := wordBefore(segment)
		if !p.ID { // the cut may have gone through an id
			return Part{ID: true}
		}
		return p
	}
	word := 0
	for begin := 0; begin <= len(segment); {
		end := begin
		for end < len(segment) && segment[end] != '_' && segment[end] != '-' {
			end++
		}
		if !isWord(segment[begin:end]) {
			break
		}
		if end == len(segment) {
			return Part{Text: segment, ID: segment == ""}
		}
		begin = end + 1
		word = begin
	}
	if strings.Trim(segment[:word], "_-") == "" {
		return Part{ID: true}
	}
	return Part{Text: segment[:word], ID: true}
}

// isWord says whether text is ASCII letters with at most a few digits after the
// first letter. An empty text is one: "__cache" has words between its _.
func isWord(text string) bool {
	digits := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		case c >= '0' && c <= '9' && i > 0:
			digits++
		default:
			return false
		}
	}
	return digits <= digitsInWord
}

// address is the length of the IP address that text begins with, 0 if there is
// none. An address ends at a separator or at the end of the name; it may hold
// separators itself.
func (s *Shaper) address(text string) int {
	run, dots, colons, digits := 0, 0, 0, 0
	for run < min(len(text), longestIPText+1) && isAddressByte(text[run]) {
		switch c := text[run]; {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c <= '9':
			digits++
		}
		run++
	}
	if dots < 3 && colons < 2 || digits == 0 { // "a::b" are words
		return 0
	}
	for ; run > 1; run-- {
		if run < len(text) && !s.separators[text[run]] {
			continue
		}
		if _, err := netip.ParseAddr(text[:run]); err == nil {
			return run
		}
	}
	return 0
}

func isAddressByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == ':' || c == '.'
}

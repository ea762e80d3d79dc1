// Redis globs: *, ?, [abc], [a-z], [^a] and \ as in KEYS, compiled so that most
// names fail at a literal. Names and patterns are bytes.

package classify

import "strings"

// glob is a compiled pattern: pieces with stars between them.
type glob struct {
	prefix   string      // literal bytes before the first special one
	head     globPiece   // what must follow them at once
	middle   []globPiece // what must come anywhere after that, in this order
	tail     globPiece   // what the name must end with; only where there is a star
	starred  bool
	literals int // literal bytes of the whole pattern
}

// globPiece is a run without a star: literal bytes, then other tokens.
type globPiece struct {
	literal string
	tokens  []globToken
	length  int // bytes that it matches
}

type globToken struct {
	set  *[256]bool // nil with !lit: any byte (?)
	char byte
	lit  bool
}

func compileGlob(pattern string) glob {
	var g glob
	pieces := [][]globToken{nil}
	add := func(t globToken) { pieces[len(pieces)-1] = append(pieces[len(pieces)-1], t) }
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			pieces = append(pieces, nil)
		case c == '?':
			add(globToken{})
		case c == '[':
			set, end := globSet(pattern, i+1)
			add(globToken{set: set})
			i = end
		case c == '\\' && i+1 < len(pattern):
			i++
			add(globToken{char: pattern[i], lit: true})
		default:
			add(globToken{char: c, lit: true})
		}
	}
	for _, piece := range pieces {
		for _, t := range piece {
			if t.lit {
				g.literals++
			}
		}
	}
	g.head = newGlobPiece(pieces[0])
	g.prefix, g.head.literal = g.head.literal, ""
	g.head.length -= len(g.prefix)
	if last := len(pieces) - 1; last > 0 {
		g.starred, g.tail = true, newGlobPiece(pieces[last])
		for _, piece := range pieces[1:last] {
			if len(piece) > 0 {
				g.middle = append(g.middle, newGlobPiece(piece))
			}
		}
	}
	return g
}

func newGlobPiece(tokens []globToken) globPiece {
	var text []byte
	for len(text) < len(tokens) && tokens[len(text)].lit {
		text = append(text, tokens[len(text)].char)
	}
	return globPiece{literal: string(text), tokens: tokens[len(text):], length: len(tokens)}
}

// globSet reads a bracket from its first byte and answers the index of its
// end. A bracket that is never closed ends with the pattern, as in Redis.
func globSet(pattern string, i int) (*[256]bool, int) {
	var set [256]bool
	negated := i < len(pattern) && pattern[i] == '^'
	if negated {
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
			set[pattern[i]] = true
			continue
		}
		from, to := pattern[i], pattern[i]
		if i+2 < len(pattern) && pattern[i+1] == '-' {
			to = pattern[i+2]
			i += 2
		}
		for c := int(min(from, to)); c <= int(max(from, to)); c++ {
			set[c] = true
		}
	}
	if negated {
		for c := range set {
			set[c] = !set[c]
		}
	}
	return &set, i
}

func (t globToken) matches(c byte) bool {
	if t.lit {
		return t.char == c
	}
	return t.set == nil || t.set[c]
}

// match takes at most len(name) x tokens steps: each piece is looked for once,
// from the left, so no pattern explodes.
func (g *glob) match(name string) bool {
	rest, begins := strings.CutPrefix(name, g.prefix)
	return begins && g.matchAfterPrefix(rest)
}

// matchAfterPrefix matches what follows the prefix, which the name is known to
// begin with.
func (g *glob) matchAfterPrefix(name string) bool {
	head, tail := g.head.length, g.tail.length
	if len(name) < head+tail || !g.starred && len(name) != head {
		return false
	}
	if !g.tail.at(name, len(name)-tail) || !g.head.at(name, 0) {
		return false
	}
	name = name[head : len(name)-tail]
	for i := range g.middle {
		at := g.middle[i].in(name)
		if at < 0 {
			return false
		}
		name = name[at+g.middle[i].length:]
	}
	return true
}

// at says whether the piece is at a place of a text that is long enough.
func (p *globPiece) at(text string, place int) bool {
	if p.literal != "" && !strings.HasPrefix(text[place:], p.literal) {
		return false
	}
	place += len(p.literal)
	for i, t := range p.tokens {
		if !t.matches(text[place+i]) {
			return false
		}
	}
	return true
}

// in is the first place of the piece in a text, -1 if there is none.
func (p *globPiece) in(text string) int {
	for place := 0; ; place++ {
		next := strings.Index(text[place:], p.literal)
		place += next
		if next < 0 || place+p.length > len(text) {
			return -1
		}
		if p.at(text, place) {
			return place
		}
	}
}

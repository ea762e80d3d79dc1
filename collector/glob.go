package collector

import (
	"slices"
	"strings"
)

// glob is a compiled Redis glob: *, ?, [abc], [a-z], [^a] and \ as in KEYS.
// Names and patterns are bytes.
type glob struct {
	prefix   string // literal bytes before the first special one: most names fail here
	tokens   []globToken
	suffix   string // literal bytes after the last star: most others fail here
	literals int    // literal bytes of the whole pattern
}

type globToken struct {
	star bool
	set  *[256]bool // nil with !star: any byte (?)
	char byte
	lit  bool
}

func compileGlob(pattern string) glob {
	var g glob
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			if n := len(g.tokens); n == 0 || !g.tokens[n-1].star {
				g.tokens = append(g.tokens, globToken{star: true})
			}
		case c == '?':
			g.tokens = append(g.tokens, globToken{})
		case c == '[':
			set, end := globSet(pattern, i+1)
			g.tokens = append(g.tokens, globToken{set: set})
			i = end
		case c == '\\' && i+1 < len(pattern):
			i++
			g.tokens = append(g.tokens, globToken{char: pattern[i], lit: true})
		default:
			g.tokens = append(g.tokens, globToken{char: c, lit: true})
		}
	}
	for _, t := range g.tokens {
		if t.lit {
			g.literals++
		}
	}
	first := slices.IndexFunc(g.tokens, func(t globToken) bool { return !t.lit })
	if first < 0 {
		first = len(g.tokens)
	}
	g.prefix, g.tokens = literal(g.tokens[:first]), g.tokens[first:]
	last := len(g.tokens)
	for last > 0 && g.tokens[last-1].lit {
		last--
	}
	if last > 0 && g.tokens[last-1].star {
		g.suffix, g.tokens = literal(g.tokens[last:]), g.tokens[:last]
	}
	return g
}

// literal is the text of tokens that are all literal.
func literal(tokens []globToken) string {
	text := make([]byte, len(tokens))
	for i, t := range tokens {
		text[i] = t.char
	}
	return string(text)
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

// match takes at most len(name) x tokens steps: it goes back to the last star
// only, so no pattern explodes.
func (g *glob) match(name string) bool {
	rest, begins := strings.CutPrefix(name, g.prefix)
	return begins && g.matchAfterPrefix(rest)
}

// matchAfterPrefix matches what follows the prefix, which the name is known to
// begin with.
func (g *glob) matchAfterPrefix(name string) bool {
	name, ends := strings.CutSuffix(name, g.suffix)
	if !ends {
		return false
	}
	star, resume := -1, 0
	i, t := 0, 0
	for i < len(name) {
		switch {
		case t < len(g.tokens) && g.tokens[t].star:
			star, resume = t, i
			t++
			if t == len(g.tokens) {
				return true
			}
		case t < len(g.tokens) && g.tokens[t].matches(name[i]):
			i++
			t++
		case star >= 0:
			resume++
			i, t = resume, star+1
		default:
			return false
		}
	}
	for t < len(g.tokens) && g.tokens[t].star {
		t++
	}
	return t == len(g.tokens)
}

package classify

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Discovery says how groups are found by name shape.
type Discovery struct {
	Enabled    bool     `yaml:"enabled"`
	Separators string   `yaml:"separators"` // bytes between segments
	Depth      int      `yaml:"depth"`      // segments that are looked at, 1 to 8
	Allow      []string `yaml:"allow"`      // segments that are shown whatever they look like and however rare they are
}

// DefaultDiscovery has the documented defaults.
func DefaultDiscovery() Discovery {
	return Discovery{Enabled: true, Separators: ":/.|", Depth: 3}
}

// Validate says what is wrong with the settings.
func (d Discovery) Validate() error {
	for i := range len(d.Separators) {
		if c := d.Separators[i]; c <= ' ' || c >= 0x7f || isWordByte(c) || c == '*' {
			return errors.New("separators must be ASCII characters such as \":/.|\", no letters, digits, spaces or *")
		}
	}
	if d.Depth < 1 || d.Depth > 8 {
		return errors.New("depth must be from 1 to 8")
	}
	for _, word := range d.Allow {
		if word == "" || !utf8.ValidString(word) || len(word) > longestWord || strings.ContainsAny(word, "*"+d.Separators) {
			return fmt.Errorf("allow must be a list of segments of 1 to %d bytes, without separators or *", longestWord)
		}
	}
	return nil
}

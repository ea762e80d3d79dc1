// The kinds of values that settings have beside the plain ones. redisURL has a
// file of its own.

package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/units"

	"keyhealth/collector/classify"
)

// secret is a text that nothing prints. It is behind a pointer because fmt does
// not ask the fields of other structs for their String, and the zero value is
// the empty text.
type secret struct{ text *string }

const hidden = "<hidden>"

func newSecret(text string) secret {
	if text == "" {
		return secret{}
	}
	return secret{&text}
}

// reveal returns the text itself, for whoever has to send it.
func (s secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

func (s secret) isEmpty() bool { return s.text == nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *secret) UnmarshalText(text []byte) error {
	*s = newSecret(string(text))
	return nil
}

// String says that there is a text, and not which.
func (s secret) String() string {
	if s.isEmpty() {
		return ""
	}
	return hidden
}

// whole is a decimal number: a leading 0 does not make it octal.
type whole int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *whole) UnmarshalText(text []byte) error {
	parsed, err := strconv.ParseInt(string(text), 10, 64)
	*n = whole(parsed)
	return err
}

// byteSize is a number of bytes.
type byteSize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteSize) UnmarshalText(text []byte) error {
	if err := (*whole)(b).UnmarshalText(text); err == nil {
		return nil
	}
	parsed, err := units.ParseStrictBytes(string(text))
	*b = byteSize(parsed)
	return err
}

// String is the text that UnmarshalText reads.
func (b byteSize) String() string {
	if b%1024 == 0 {
		return units.Base2Bytes(b).String()
	}
	return units.MetricBytes(b).String()
}

// staleAfter is a duration, 0 for auto.
type staleAfter classify.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *staleAfter) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*d = 0
		return nil
	}
	if err := (*classify.Duration)(d).UnmarshalText(text); err != nil {
		return err
	}
	if *d == 0 {
		return errors.New("0 is below every interval")
	}
	return nil
}

// String is the text that UnmarshalText reads.
func (d staleAfter) String() string {
	if d == 0 {
		return "auto"
	}
	return classify.Duration(d).String()
}

// autoBool is true or false, or auto: what is found decides.
type autoBool string

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *autoBool) UnmarshalText(text []byte) error {
	if !slices.Contains([]string{"auto", "true", "false"}, string(text)) {
		return errors.New("none of the three")
	}
	*b = autoBool(text)
	return nil
}

// databases are the numbers of databases; none means all of them.
type databases []int

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *databases) UnmarshalText(text []byte) error {
	*d = nil
	if string(text) == "all" {
		return nil
	}
	for item := range strings.SplitSeq(string(text), ",") {
		number, err := databaseNumber(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		if slices.Contains(*d, number) {
			return errors.New("twice")
		}
		*d = append(*d, number)
	}
	return nil
}

// String is the text that UnmarshalText reads.
func (d databases) String() string {
	if len(d) == 0 {
		return "all"
	}
	numbers := make([]string, len(d))
	for i, number := range d {
		numbers[i] = strconv.Itoa(number)
	}
	return strings.Join(numbers, ",")
}

func databaseNumber(text string) (int, error) {
	number, err := strconv.ParseUint(text, 10, 31)
	return int(number), err
}

// This file owns the names of keys: how a subject, a policy and a window become
// one. It does not know what the keys hold.

package limiter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// DefaultPrefix starts the keys of a limiter that is given no prefix.
	DefaultPrefix = "keyhealth"
	// MaxSubject is the length in bytes up to which a subject stands in the
	// key as it is; the SHA-256 of a longer one stands there instead.
	MaxSubject = 128
)

// hashMark starts the name of a hashed subject. No escaped subject begins like
// it, because escape follows every % with two hex digits.
const hashMark = "%sha256:"

// keyNames builds "<prefix>:{<subject>}:<policy>:<window>", one for each window.
// Braces occur in it only where they stand here: the prefix has none and escape
// leaves none. So the hash tag is the subject, all keys of a subject are in one
// slot of a Cluster, and what is before, in and after the tag can be told apart:
// two subjects, or two windows of one, never share a key.
type keyNames struct {
	before string
	after  []string
}

func newKeyNames(prefix string, windows []window) (keyNames, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if strings.ContainsAny(prefix, "{}") {
		return keyNames{}, fmt.Errorf("%w: %q", ErrPrefix, prefix)
	}
	names := keyNames{before: prefix + ":{"}
	for _, w := range windows {
		after := "}:" + w.name
		if slices.Contains(names.after, after) {
			return keyNames{}, fmt.Errorf("%w: %s", ErrPolicies, w.name)
		}
		names.after = append(names.after, after)
	}
	return names, nil
}

func (k keyNames) of(subject string) ([]string, error) {
	switch {
	case subject == "":
		return nil, fmt.Errorf("limiter: %w", ErrSubject)
	case len(subject) > MaxSubject:
		sum := sha256.Sum256([]byte(subject))
		subject = hashMark + hex.EncodeToString(sum[:])
	default:
		subject = escape(subject)
	}
	keys := make([]string, len(k.after))
	for i, after := range k.after {
		keys[i] = k.before + subject + after
	}
	return keys, nil
}

// escape writes braces, the percent sign, spaces and control bytes as %XX. It
// is one to one, and a key stays one word for a shell.
func escape(subject string) string {
	if strings.IndexFunc(subject, special) < 0 {
		return subject
	}
	var b strings.Builder
	for i := range len(subject) {
		if c := subject[i]; special(rune(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// special is asked about bytes and runes alike: it holds for ASCII only, and no
// byte of a longer UTF-8 sequence is ASCII.
func special(r rune) bool {
	return r <= ' ' || r == 0x7f || r == '{' || r == '}' || r == '%'
}

// windowName is "60s", or "1500ms" where it is not whole seconds. The unit also
// keeps the exporter from taking a long window for a unix time.
func windowName(window time.Duration) string {
	if window%time.Second == 0 {
		return strconv.FormatInt(int64(window/time.Second), 10) + "s"
	}
	return strconv.FormatInt(window.Milliseconds(), 10) + "ms"
}

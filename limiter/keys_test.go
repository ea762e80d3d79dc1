// This file owns the names of keys: their shape, and that no two subjects share
// one.

package limiter

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeyNames(t *testing.T) {
	long := strings.Repeat("x", MaxSubject)
	tests := []struct {
		name, prefix, subject string
		window                time.Duration
		want                  string
	}{
		{name: "default prefix", subject: "alice", window: time.Minute, want: "keyhealth:{alice}:fixed:60s"},
		{name: "own prefix", prefix: "api:v1", subject: "alice", window: time.Minute, want: "api:v1:{alice}:fixed:60s"},
		{name: "milliseconds", subject: "alice", window: 1500 * time.Millisecond, want: "keyhealth:{alice}:fixed:1500ms"},
		{name: "a month is not a unix time", subject: "alice", window: 30 * 24 * time.Hour, want: "keyhealth:{alice}:fixed:2592000s"},
		{name: "braces", subject: "a}b{c", window: time.Second, want: "keyhealth:{a%7Db%7Bc}:fixed:1s"},
		{name: "what an escape looks like", subject: "a%7Db", window: time.Second, want: "keyhealth:{a%257Db}:fixed:1s"},
		{name: "spaces and control bytes", subject: "a b\n\x00\x7f", window: time.Second, want: "keyhealth:{a%20b%0A%00%7F}:fixed:1s"},
		{name: "letters of other scripts", subject: "Zoë\xff", window: time.Second, want: "keyhealth:{Zoë\xff}:fixed:1s"},
		{name: "the longest as it is", subject: long, window: time.Second, want: "keyhealth:{" + long + "}:fixed:1s"},
		{
			name: "hashed", subject: long + "x", window: time.Second,
			want: "keyhealth:{%sha256:0ec9eb33e74510bcdd1f2ea55206e82f21649c5c2becbf2b433eb475b34c01bd}:fixed:1s",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			names, err := newKeyNames(tt.prefix, fixedNamed(tt.window))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := names.of(tt.subject); err != nil || !slices.Equal(got, []string{tt.want}) {
				t.Errorf("the keys are %q, want %q (%v)", got, tt.want, err)
			}
		})
	}
}

// fixedNamed is a fixed window as its name wants it.
func fixedNamed(d time.Duration) []window { return []window{{name: "fixed:" + windowName(d)}} }

func TestKeyNamesRefuse(t *testing.T) {
	for _, prefix := range []string{"{", "}", "a{b}c"} {
		if _, err := newKeyNames(prefix, fixedNamed(time.Second)); !errors.Is(err, ErrPrefix) {
			t.Errorf("prefix %q: %v, want %v", prefix, err, ErrPrefix)
		}
	}
	names, err := newKeyNames("", fixedNamed(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := names.of(""); !errors.Is(err, ErrSubject) {
		t.Errorf("no subject: %v, want %v", err, ErrSubject)
	}
}

// FuzzKeyNames: two subjects never share a key, and the hash tag that a
// Cluster reads from a key is all of the subject and nothing else.
func FuzzKeyNames(f *testing.F) {
	long := strings.Repeat("long", 40)
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(long)))
	for _, pair := range [][2]string{
		{"a", "b"}, {"a}b", "a%7Db"}, {"a", "a}"}, {"{a}", "a"}, {"%", "%25"}, {" ", "%20"},
		{long, sum}, {long, "%" + sum}, {long, long + "x"}, {"\xff", "\xfe"},
	} {
		f.Add(pair[0], pair[1])
	}
	names, err := newKeyNames("p", fixedNamed(time.Second))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" {
			return
		}
		keysA, errA := names.of(a)
		keysB, errB := names.of(b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		keyA, keyB := keysA[0], keysB[0]
		if (a == b) != (keyA == keyB) {
			t.Errorf("subjects %q and %q have the keys %q and %q", a, b, keyA, keyB)
		}
		_, afterOpen, _ := strings.Cut(keyA, "{")
		tag, rest, _ := strings.Cut(afterOpen, "}")
		if tag == "" || rest != ":fixed:1s" {
			t.Errorf("the hash tag of %q is %q", keyA, tag)
		}
		if len(a) <= MaxSubject && len(keyA) > len("p:{}:fixed:1s")+3*MaxSubject || len(a) > MaxSubject && len(keyA) > 128 {
			t.Errorf("a subject of %d bytes has a key of %d", len(a), len(keyA))
		}
	})
}

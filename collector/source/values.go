package source

import (
	"context"
	"math"
	"strconv"
	"strings"
)

// ValueConn is the part of a connection that asks what keys hold. Like TTLs, each
// method sends one command a name in one write.
type ValueConn interface {
	// Types answers TYPE: "none" where there is no such key, "" where the server's
	// ACL keeps it from us.
	Types(ctx context.Context, names []string) ([]string, error)
	// Lengths answers how many elements a key has, by its type, or a TTL constant:
	// TTLGone for what is no collection (any more).
	Lengths(ctx context.Context, keys []TypedName) ([]int64, error)
	// Strings answers the value of a short string; OK is false for what is none
	// (any more), or is kept from us.
	Strings(ctx context.Context, names []string) ([]StringValue, error)
	// NoTouch keeps what we read from looking used to the server's eviction.
	NoTouch(ctx context.Context) error
}

// TypedName is a key's name with its type.
type TypedName struct {
	Name string
	Type string // of TYPE
}

// StringValue is the value of a short string.
type StringValue struct {
	Text string
	OK   bool
}

// lengthCommands count the elements of a collection.
var lengthCommands = map[string]string{"hash": "hlen", "list": "llen", "set": "scard", "zset": "zcard", "stream": "xlen"}

// longestNumber is the bytes of a value that may be a number.
const longestNumber = 64

// Number is the number a string holds.
func (v StringValue) Number() (float64, bool) {
	if !v.OK || len(v.Text) > longestNumber {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// HasLength says whether a type is that of a collection.
func HasLength(keyType string) bool { return lengthCommands[keyType] != "" }

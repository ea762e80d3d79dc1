package collector

import (
	"context"
	"math"
	"strconv"
	"strings"
)

// valueConn is the part of a connection that asks what keys hold. Like ttls, each
// method sends one command a name in one write.
type valueConn interface {
	// types answers TYPE: "none" where there is no such key, "" where the server's
	// ACL keeps it from us.
	types(ctx context.Context, names []string) ([]string, error)
	// lengths answers how many elements a key has, by its type, or a ttl constant:
	// ttlGone for what is no collection (any more).
	lengths(ctx context.Context, keys []typedName) ([]int64, error)
	// strings answers the value of a short string; ok is false for what is none
	// (any more), or is kept from us.
	strings(ctx context.Context, names []string) ([]stringValue, error)
	// noTouch keeps what we read from looking used to the server's eviction.
	noTouch(ctx context.Context) error
}

type typedName struct {
	name    string
	keyType string // of TYPE
}

type stringValue struct {
	text string
	ok   bool
}

// lengthCommands count the elements of a collection.
var lengthCommands = map[string]string{"hash": "hlen", "list": "llen", "set": "scard", "zset": "zcard", "stream": "xlen"}

// longestNumber is the bytes of a value that may be a number.
const longestNumber = 64

// number is the number a string holds.
func (v stringValue) number() (float64, bool) {
	if !v.ok || len(v.text) > longestNumber {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// hasLength says whether a type is that of a collection.
func hasLength(keyType string) bool { return lengthCommands[keyType] != "" }

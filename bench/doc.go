// Package bench compares the limiter with others that count in Redis, on the
// same server in the same run:
//
//	go test -v -each 2s -rounds 5 .
//
// It is a module of its own so that nobody else has to download them.
package bench

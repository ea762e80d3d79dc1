package redistest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// serversEnv lists further server binaries, by path, separated by commas.
	serversEnv = "TEST_KEYHEALTH_SERVERS"
	// requireEnv, when not empty, turns a missing program into a failure.
	requireEnv = "TEST_KEYHEALTH_REQUIRE"
)

// defaultServer is the server that every test runs against.
const defaultServer = "redis-server"

// Require returns the path of a program that a test needs. Where it is missing
// the test is skipped, or fails if CI or TEST_KEYHEALTH_REQUIRE is set: a suite
// that passes because it ran nothing is worse than one that fails.
func Require(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	for _, name := range []string{"CI", requireEnv} {
		if os.Getenv(name) != "" {
			t.Fatalf("%s is missing, and %s forbids to skip the test. Install it with: make setup (%v)", program, name, err)
		}
	}
	t.Skipf("NOT TESTED: %s is missing. Install it with: make setup (%v)", program, err)
	return ""
}

// Run runs f as one subtest for each server binary: redis-server from the PATH,
// then each path of the comma-separated TEST_KEYHEALTH_SERVERS. f starts its
// server with [StartBinary]. A listed server that is missing is a failure.
func Run(t *testing.T, name string, f func(t *testing.T, binary string)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Run(defaultServer, func(t *testing.T) { f(t, Require(t, defaultServer)) })
		for path := range strings.SplitSeq(os.Getenv(serversEnv), ",") {
			path = strings.TrimSpace(path)
			if path == "" {
				continue
			}
			// Slashes would nest the subtest: /opt/valkey-8/bin/valkey-server
			// becomes opt_valkey-8_bin_valkey-server.
			label := strings.ReplaceAll(strings.Trim(filepath.ToSlash(path), "/"), "/", "_")
			t.Run(label, func(t *testing.T) {
				binary, err := exec.LookPath(path)
				if err != nil {
					t.Fatalf("%s lists a server that cannot be run: %v", serversEnv, err)
				}
				f(t, binary)
			})
		}
	})
}

package redistest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRequire(t *testing.T) {
	const missing = "keyhealth-no-such-program"
	tests := []struct {
		name, program, ci, require string
		skips, fails               bool
	}{
		{name: "present", program: "go", ci: "true", require: "1"},
		{name: "missing on a laptop", program: missing, skips: true},
		{name: "missing in CI", program: missing, ci: "true", fails: true},
		{name: "missing under make test", program: missing, require: "1", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CI", tt.ci)
			t.Setenv(requireEnv, tt.require)
			var path string
			got := record(t, func(tb testing.TB) { path = Require(tb, tt.program) })
			if skips := got.skipped != ""; skips != tt.skips {
				t.Errorf("skipped %q, want a skip: %v", got.skipped, tt.skips)
			}
			if fails := got.fatal != ""; fails != tt.fails {
				t.Errorf("failed with %q, want a failure: %v", got.fatal, tt.fails)
			}
			message := got.skipped + got.fatal
			if message == "" {
				if !filepath.IsAbs(path) {
					t.Errorf("the path is %q, want an absolute one", path)
				}
				return
			}
			for _, want := range []string{missing, "make setup"} {
				if !strings.Contains(message, want) {
					t.Errorf("the message %q lacks %q", message, want)
				}
			}
		})
	}
}

func TestRunRepeatsOnEveryServer(t *testing.T) {
	standard := Require(t, defaultServer)
	other := filepath.Join(t.TempDir(), "other-server")
	if err := os.Symlink(standard, other); err != nil {
		t.Fatal(err)
	}
	t.Setenv(serversEnv, " "+other+" , ")
	var names, binaries []string
	Run(t, "answers", func(t *testing.T, binary string) {
		s := StartBinary(t, binary)
		if s.Binary() != binary {
			t.Errorf("the server runs %s, want %s", s.Binary(), binary)
		}
		names = append(names, strings.TrimPrefix(t.Name(), "TestRunRepeatsOnEveryServer/answers/"))
		binaries = append(binaries, binary)
	})
	if want := []string{standard, other}; !slices.Equal(binaries, want) {
		t.Errorf("it ran on %q, want %q", binaries, want)
	}
	if len(names) != 2 || names[0] != defaultServer || strings.Contains(names[1], "/") {
		t.Errorf("the subtests are %q, want redis-server and one without a slash", names)
	}
}

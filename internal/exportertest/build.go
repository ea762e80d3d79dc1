package exportertest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the directory of the module.
var root = sync.OnceValues(func() (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(dir)), err
})

// build compiles the binary once a test process, into a place of the module's
// own that git ignores: one file for each test package, so that packages that
// are tested at the same time do not write over a running binary.
var build = sync.OnceValues(func() (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "bin", "keyhealth-of-"+filepath.Base(os.Args[0]))
	if text, err := exec.Command("go", "build", "-o", binary, "keyhealth/cmd/exporter").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return binary, nil
})

// Binary is the path of the built binary.
func Binary(t testing.TB) string {
	t.Helper()
	SeeSources(t)
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// SeeSources looks at everything a binary is compiled from. The go command takes
// the last result of a test while what the test has looked at stays the same, and
// does not know what a compiler has looked at on its behalf.
func SeeSources(t testing.TB) {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"cmd", "collector", "internal", "limiter", "go.mod", "go.sum"} {
		err := filepath.WalkDir(filepath.Join(dir, source), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}

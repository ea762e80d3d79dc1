package imagetest

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// root is the repository, seen from here.
const root = "../.."

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seeSources looks at everything a binary is compiled from. The go command takes
// the last result of a test while what the test has looked at stays the same, and
// does not know what a compiler has looked at on its behalf.
func seeSources(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"cmd", "collector", "internal", "limiter"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum", "Dockerfile", ".dockerignore"} {
		readFile(t, root, file)
	}
}

// goRun runs the go command in the repository.
func goRun(t *testing.T, args ...string) {
	t.Helper()
	seeSources(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
}

// buildBinary builds keyhealth as it is released, and returns its path.
func buildBinary(t *testing.T, tags string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyhealth")
	goRun(t, "build", "-trimpath", "-tags", tags, "-ldflags", "-s -w", "-o", path, "./cmd/exporter")
	return path
}

func readFile(t *testing.T, elements ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func writeFile(t *testing.T, content []byte, elements ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(elements...), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

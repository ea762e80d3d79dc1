package imagetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"keyhealth/internal/exportertest"
)

// root is the repository, seen from here.
const root = "../.."

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// goRun runs the go command in the repository.
func goRun(t *testing.T, args ...string) {
	t.Helper()
	exportertest.SeeSources(t)
	for _, file := range []string{"Dockerfile", ".dockerignore"} {
		readFile(t, root, file)
	}
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

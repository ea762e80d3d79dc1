// A store of images of its own, and buildah working on it. What is built, and
// what must hold of it, is in image_linux_test.go.

package imagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// buildTimeout bounds one run of buildah: cold, on a busy machine, a compilation
// for the other architecture took three minutes.
const buildTimeout = 10 * time.Minute

// store is where buildah keeps images and containers until the test ends. It
// holds plain folders, without a mount, so that its folder can simply be removed.
type store struct {
	buildah string
	dir     string
}

// newStore skips the test where it cannot be done.
func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{buildah: redistest.Require(t, "buildah"), dir: t.TempDir()}
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("the image is built and run by root only, and CI forbids to skip the test")
		}
		t.Skip("NOT TESTED: the image is built and run by root only")
	}
	return s
}

// run runs buildah and returns what it printed, without its progress.
func (s *store) run(t *testing.T, command string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), buildTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.buildah, append([]string{
		"--root", filepath.Join(s.dir, "root"),
		"--runroot", filepath.Join(s.dir, "run"),
		"--storage-driver", "vfs",
		command,
	}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with the compiler
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("buildah %s: %v\n%s\n%s", command, err, stdout.String(), stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

func (s *store) build(t *testing.T, name, dir string, args ...string) {
	t.Helper()
	args = append([]string{"--isolation", "chroot", "--network", "host", "--pull-never", "--tag", name}, args...)
	s.run(t, "bud", append(args, dir)...)
}

// baseLine is the line of the Dockerfile that names the image with the compiler.
var baseLine = regexp.MustCompile(`(?m)^FROM --platform=\$BUILDPLATFORM (golang:(\d+\.\d+)-\w+) AS build$`)

// base puts a stand-in for the image with the compiler into the store, under its
// name, with authorities in its file of them.
func (s *store) base(t *testing.T, authorities []byte) {
	t.Helper()
	name := baseLine.FindSubmatch(readFile(t, root, "Dockerfile"))
	if name == nil {
		t.Fatalf("the Dockerfile has no line that matches %s", baseLine)
	}
	if !bytes.Contains(readFile(t, root, "go.mod"), append([]byte("\ngo "), name[2]...)) {
		t.Errorf("the Dockerfile compiles with Go %s, go.mod says another one", name[2])
	}
	dir := t.TempDir()
	writeFile(t, readFile(t, "testdata/golang/Dockerfile"), dir, "Dockerfile")
	writeFile(t, authorities, dir, "ca-certificates.crt")
	writeFile(t, readFile(t, redistest.Require(t, "busybox")), dir, "busybox")
	if err := os.Chmod(filepath.Join(dir, "busybox"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "ca-certificates.crt"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.build(t, "docker.io/library/"+string(name[1]), dir)
}

// project builds the project's Dockerfile for an architecture and returns the
// name of the image.
func (s *store) project(t *testing.T, arch string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "-json", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	var env struct{ GOROOT, GOMODCACHE, GOCACHE string }
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	name := "localhost/keyhealth:" + arch
	s.build(t, name, root,
		"--platform", "linux/"+arch,
		"--build-arg", "BUILDPLATFORM=linux/"+runtime.GOARCH, // older ones do not know it
		"--build-arg", "VERSION="+testVersion,
		"--build-arg", "REVISION="+testRevision,
		"--volume", env.GOROOT+":/usr/local/go:ro",
		"--volume", filepath.Join(env.GOMODCACHE, "cache", "download")+":/goproxy:ro",
		"--volume", env.GOCACHE+":/gocache",
	)
	return name
}

// imageConfig is what an image says about itself.
type imageConfig struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Config       struct {
		User         string
		Entrypoint   []string
		Cmd          []string
		Env          []string
		ExposedPorts map[string]struct{}
		Labels       map[string]string
	} `json:"config"`
}

func (s *store) inspect(t *testing.T, image string) imageConfig {
	t.Helper()
	var answer struct{ OCIv1 imageConfig }
	if err := json.Unmarshal([]byte(s.run(t, "inspect", "--type", "image", image)), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.OCIv1
}

// files returns the folder with the files of an image.
func (s *store) files(t *testing.T, image string) string {
	t.Helper()
	return s.run(t, "mount", s.run(t, "from", "--pull-never", image))
}

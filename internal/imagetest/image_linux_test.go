// What must hold of the image: what it says about itself, the files in it and
// the binary. How it runs is in run_linux_test.go.

package imagetest

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

const (
	testVersion  = "1.2.3-imagetest"
	testRevision = "0a1b2c3"
)

const authoritiesFile = "etc/ssl/certs/ca-certificates.crt"

func TestImage(t *testing.T) {
	s := newStore(t)
	goRun(t, "mod", "download") // what is missing here is missing in the build, which has no network
	authorities := []byte("# the authorities of the stand-in\n")
	s.base(t, authorities)
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(arch, func(t *testing.T) {
			image := s.project(t, arch)
			config := s.inspect(t, image)
			wantConfig(t, config, arch)
			dir := s.files(t, image)
			wantFiles(t, dir)
			if got := readFile(t, dir, authoritiesFile); !bytes.Equal(got, authorities) {
				t.Errorf("%s holds %q", authoritiesFile, got)
			}
			wantBinary(t, filepath.Join(dir, "keyhealth"), arch, machine)
			if arch == runtime.GOARCH {
				c := newContainer(t, dir, config)
				t.Run("version", c.version)
				t.Run("serve", c.serve)
			}
		})
	}
}

func wantConfig(t *testing.T, got imageConfig, arch string) {
	t.Helper()
	if got.OS != "linux" || got.Architecture != arch {
		t.Errorf("the image is for %s/%s", got.OS, got.Architecture)
	}
	if want := "65532:65532"; got.Config.User != want {
		t.Errorf("user %q, want %q: numeric and not root", got.Config.User, want)
	}
	if want := []string{"/keyhealth"}; !slices.Equal(got.Config.Entrypoint, want) || len(got.Config.Cmd) != 0 {
		t.Errorf("entry point %q and command %q, want %q and none", got.Config.Entrypoint, got.Config.Cmd, want)
	}
	if _, ok := got.Config.ExposedPorts["10121/tcp"]; !ok || len(got.Config.ExposedPorts) != 1 {
		t.Errorf("exposed ports %v, want 10121/tcp alone", got.Config.ExposedPorts)
	}
	for label, want := range map[string]string{
		"title":    "keyhealth",
		"licenses": "Apache-2.0",
		"version":  testVersion,
		"revision": testRevision,
	} {
		if got := got.Config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
}

// wantFiles finds everything in the image, and with it any shell.
func wantFiles(t *testing.T, dir string) {
	t.Helper()
	var names []string
	var size int64
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		names = append(names, name)
		size += info.Size()
		if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o022 != 0 {
			t.Errorf("%s has mode %v", name, mode)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{authoritiesFile, "keyhealth"}; !slices.Equal(names, want) {
		t.Errorf("the image holds %q, want %q", names, want)
	}
	t.Logf("the image has %d bytes", size)
	if size > maxImage {
		t.Errorf("the image has %d bytes, want at most %d", size, maxImage)
	}
}

// wantBinary checks that the binary needs nothing of the image around it, and
// how it was compiled.
func wantBinary(t *testing.T, path, arch string, machine elf.Machine) {
	t.Helper()
	binary, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = binary.Close() }()
	if binary.Machine != machine || binary.Type != elf.ET_EXEC {
		t.Errorf("the binary is %v, %v", binary.Machine, binary.Type)
	}
	for _, segment := range binary.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary is not static: it has a segment %v", segment.Type)
		}
	}
	if binary.Section(".symtab") != nil || binary.Section(".debug_info") != nil {
		t.Error("the binary holds symbols")
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	for key, want := range map[string]string{
		"GOOS": "linux", "GOARCH": arch, "CGO_ENABLED": "0", "-trimpath": "true", "-tags": "nodemo,nethttpomithttp2",
	} {
		if settings[key] != want {
			t.Errorf("compiled with %s=%q, want %q", key, settings[key], want)
		}
	}
}

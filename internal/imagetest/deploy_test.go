// What must hold of deploy/: the files parse, the settings in them are accepted
// by the binary, what they mention exists, and the restrictions are there.

package imagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"keyhealth/internal/redistest"
)

const deploy = root + "/deploy"

// deployFiles lists the files of deploy/ whose names end so.
func deployFiles(t *testing.T, endings ...string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(deploy, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains(endings, filepath.Ext(name)) {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("files of %s: %v, error %v", deploy, names, err)
	}
	return names
}

// documents parses all YAML documents of a file.
func documents(t *testing.T, name string) []yaml.Node {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(readFile(t, name)))
	var found []yaml.Node
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err == nil {
			err = document.Decode(map[string]any{}) // finds keys that are there twice
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found = append(found, document)
	}
}

func TestDeployParses(t *testing.T) {
	for _, name := range deployFiles(t, ".yaml", ".yml") {
		if len(documents(t, name)) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

var settingName = regexp.MustCompile(`KEYHEALTH_[A-Z_]+`)

// TestDeployNames finds settings that do not exist, in comments too.
func TestDeployNames(t *testing.T) {
	known := readFile(t, root, "docs/settings.md")
	for _, name := range deployFiles(t, ".yaml", ".yml", ".service") {
		for _, setting := range settingName.FindAll(readFile(t, name), -1) {
			if !bytes.Contains(known, []byte("`"+string(setting)+"`")) {
				t.Errorf("%s mentions %s, which docs/settings.md does not know", name, setting)
			}
		}
	}
}

// TestDeploySettings lets the binary check the settings of each file.
func TestDeploySettings(t *testing.T) {
	binary := buildBinary(t, "nodemo")
	for name, settings := range map[string]map[string]string{
		"compose.yaml":    readCompose(t).Services["keyhealth"].Environment,
		"kubernetes.yaml": readKubernetes(t).settings(t),
	} {
		if len(settings) < 2 {
			t.Errorf("%s has only the settings %v", name, settings)
		}
		cmd := exec.CommandContext(t.Context(), binary, "check-config")
		for key, value := range settings {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestPrometheusConfig(t *testing.T) {
	promtool := redistest.Require(t, "promtool")
	rules, err := filepath.Glob(root + "/alerts/*.rules.yml")
	if err != nil || len(rules) == 0 {
		t.Fatalf("rules files %v, error %v", rules, err)
	}
	out, err := exec.CommandContext(t.Context(), promtool, "check", "config", deploy+"/prometheus.yml").CombinedOutput()
	if want := fmt.Sprintf("SUCCESS: %d rule files found", len(rules)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("want %q, got error %v and:\n%s", want, err, out)
	}
}

// compose is what is looked at of compose.yaml.
type compose struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		Ports       []string
		Volumes     []string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
	}
	Volumes map[string]any
}

func readCompose(t *testing.T) compose {
	t.Helper()
	var c compose
	if err := documents(t, deploy+"/compose.yaml")[0].Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompose(t *testing.T) {
	c := readCompose(t)
	if names := slices.Sorted(maps.Keys(c.Services)); !slices.Equal(names, []string{"grafana", "keyhealth", "prometheus", "redis"}) {
		t.Errorf("services %v", names)
	}
	for name, service := range c.Services {
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s on every address", name, port)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			_, named := c.Volumes[source]
			if _, err := os.Stat(filepath.Join(deploy, source)); err != nil && !named {
				t.Errorf("%s mounts %s, which is not there", name, source)
			}
		}
	}
	k := c.Services["keyhealth"]
	if !k.ReadOnly || !slices.Equal(k.CapDrop, []string{"ALL"}) || !slices.Equal(k.SecurityOpt, []string{"no-new-privileges:true"}) {
		t.Errorf("keyhealth may more than it needs: %+v", k)
	}
}

// TestService checks the restrictions as systemd itself judges them; 0 is a
// service that can do nothing, 10 one without restrictions.
func TestService(t *testing.T) {
	systemd := redistest.Require(t, "systemd-analyze")
	out, err := exec.CommandContext(t.Context(), systemd,
		"security", "--offline=true", "--threshold=15", deploy+"/keyhealth.service").CombinedOutput()
	if err != nil {
		t.Errorf("the exposure is above 1.5: %v\n%s", err, out)
	}
}

package imagetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kubernetes is what is looked at of kubernetes.yaml.
type kubernetes struct {
	configMap  struct{ Data map[string]string }
	deployment struct {
		Spec struct {
			Replicas int
			Strategy struct{ Type string }
			Template struct {
				Metadata struct{ Labels map[string]string }
				Spec     pod
			}
		}
	}
	service struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			Selector map[string]string
			Ports    []struct {
				Name       string
				TargetPort string `yaml:"targetPort"`
			}
		}
	}
	monitor struct {
		Spec struct {
			Selector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			}
			Endpoints []struct{ Port string }
		}
	}
}

type pod struct {
	SecurityContext struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
		RunAsUser    int  `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	Containers []struct {
		Ports []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		Env             []struct{ Name, Value string }
		Resources       struct{ Requests, Limits map[string]string }
		ReadinessProbe  probe `yaml:"readinessProbe"`
		LivenessProbe   probe `yaml:"livenessProbe"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name      string
		ConfigMap struct{ Name string } `yaml:"configMap"`
		Secret    struct {
			SecretName string `yaml:"secretName"`
		}
	}
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func readKubernetes(t *testing.T) kubernetes {
	t.Helper()
	var k kubernetes
	targets := map[string]any{"ConfigMap": &k.configMap, "Deployment": &k.deployment, "Service": &k.service, "ServiceMonitor": &k.monitor}
	for _, document := range documents(t, deploy+"/kubernetes.yaml") {
		var kind struct{ Kind string }
		if err := document.Decode(&kind); err != nil {
			t.Fatal(err)
		}
		target, ok := targets[kind.Kind]
		if !ok {
			t.Fatalf("a second %q, or one that nothing is known of", kind.Kind)
		}
		if err := document.Decode(target); err != nil {
			t.Fatalf("%s: %v", kind.Kind, err)
		}
		delete(targets, kind.Kind)
	}
	if len(targets) != 0 || len(k.deployment.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("missing: %v; containers: %+v", targets, k.deployment.Spec.Template.Spec.Containers)
	}
	return k
}

// settings are the environment of the container, with folders of the test in
// place of the mounted ones.
func (k kubernetes) settings(t *testing.T) map[string]string {
	t.Helper()
	spec := k.deployment.Spec.Template.Spec
	folders := map[string]string{} // by the name of the volume
	for _, volume := range spec.Volumes {
		dir := t.TempDir()
		folders[volume.Name] = dir
		if volume.Secret.SecretName != "" {
			writeFile(t, []byte("secret\n"), dir, "password")
			continue
		}
		for name, content := range k.configMap.Data {
			writeFile(t, []byte(content), dir, name)
		}
	}
	settings := map[string]string{}
	for _, variable := range spec.Containers[0].Env {
		for _, mount := range spec.Containers[0].VolumeMounts {
			if rest, ok := strings.CutPrefix(variable.Value, mount.MountPath+"/"); ok {
				variable.Value = filepath.Join(folders[mount.Name], rest)
				if _, err := os.Stat(variable.Value); err != nil {
					t.Errorf("%s: no such file in the volume: %v", variable.Name, err)
				}
			}
		}
		settings[variable.Name] = variable.Value
	}
	return settings
}

func TestKubernetesRestrictions(t *testing.T) {
	spec := readKubernetes(t).deployment.Spec
	if spec.Replicas != 1 || spec.Strategy.Type != "Recreate" {
		t.Errorf("%d replicas, strategy %s: two exporters would sweep at once", spec.Replicas, spec.Strategy.Type)
	}
	if user := spec.Template.Spec.SecurityContext; !user.RunAsNonRoot || user.RunAsUser != 65532 {
		t.Errorf("the user: %+v", user)
	}
	container := spec.Template.Spec.Containers[0]
	may := container.SecurityContext
	if may.AllowPrivilegeEscalation == nil || *may.AllowPrivilegeEscalation || !may.ReadOnlyRootFilesystem ||
		len(may.Capabilities.Drop) != 1 || may.Capabilities.Drop[0] != "ALL" {
		t.Errorf("the container may more than it needs: %+v", may)
	}
	for _, amounts := range []map[string]string{container.Resources.Requests, container.Resources.Limits} {
		if amounts["cpu"] == "" || amounts["memory"] == "" {
			t.Errorf("resources: %v", amounts)
		}
	}
}

// TestKubernetesConnections follows a scrape: monitor, service, pod, port.
func TestKubernetesConnections(t *testing.T) {
	k := readKubernetes(t)
	pod := k.deployment.Spec.Template
	container := pod.Spec.Containers[0]
	if ports := container.Ports; len(ports) != 1 || ports[0].ContainerPort != 10121 {
		t.Fatalf("ports of the container: %+v", ports)
	}
	port := container.Ports[0].Name
	if !selects(k.service.Spec.Selector, pod.Metadata.Labels) || !selects(k.monitor.Spec.Selector.MatchLabels, k.service.Metadata.Labels) {
		t.Errorf("a selector selects nothing: %+v", k)
	}
	if ports := k.service.Spec.Ports; len(ports) != 1 || ports[0].TargetPort != port {
		t.Fatalf("ports of the service: %+v", ports)
	}
	if ends := k.monitor.Spec.Endpoints; len(ends) != 1 || ends[0].Port != k.service.Spec.Ports[0].Name {
		t.Errorf("endpoints of the monitor: %+v", ends)
	}
	for want, probe := range map[string]probe{"/-/ready": container.ReadinessProbe, "/-/healthy": container.LivenessProbe} {
		if got := probe.HTTPGet; got.Path != want || got.Port != port {
			t.Errorf("probe %+v, want %s at %s", got, want, port)
		}
	}
}

// selects says whether a selector, which must not be empty, selects the labels.
func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

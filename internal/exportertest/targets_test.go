// Several targets in one exporter: found by a real Prometheus, and none of them
// held up by another.

package exportertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// writeTargets writes a file of targets, each "NAME URL".
func writeTargets(t *testing.T, file string, targets ...string) {
	t.Helper()
	text := "groups: [{name: limit, match: 'limit:*', window: 60s}]\ntargets:\n"
	for _, target := range targets {
		space := strings.LastIndexByte(target, ' ')
		name, at := target[:space], target[space+1:]
		text += fmt.Sprintf("  - {name: %q, url: %q}\n", name, at)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// scrapeConfig is that of the README, with another address and interval.
func scrapeConfig(t *testing.T, address string) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	const begin = "```yaml\nscrape_configs:                  # a scrape target for each Redis"
	_, text, found := strings.Cut(string(readme), begin)
	if !found {
		t.Fatal("README.md shows no scrape_configs for several targets")
	}
	text, _, _ = strings.Cut(text, "```")
	return "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n" +
		strings.NewReplacer("127.0.0.1:10121", address).Replace(text)
}

// query asks Prometheus, and answers each series' labels but the name.
func query(t *testing.T, client *http.Client, address, expression string) []string {
	t.Helper()
	response, err := client.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		return nil // it has not begun
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data struct {
			Result []struct{ Metric map[string]string }
		}
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(text, &answer) != nil {
		return nil
	}
	var found []string
	for _, one := range answer.Data.Result {
		labels := []string{}
		for name, value := range one.Metric {
			if name != "__name__" && name != "node" {
				labels = append(labels, name+"="+value)
			}
		}
		slices.Sort(labels)
		found = append(found, strings.Join(labels, " "))
	}
	slices.Sort(found)
	return found
}

// TestPrometheusFindsTheTargets uses the scrape_config of the README as it is.
func TestPrometheusFindsTheTargets(t *testing.T) {
	binary := redistest.Require(t, "prometheus")
	shop, cart := redistest.Start(t), redistest.Start(t)
	redistest.Fill(t, shop, "for i = 1, 10 do redis.call('SET', 'limit:' .. i, 1) end")
	dir := t.TempDir()
	file := filepath.Join(dir, "keyhealth.yml")
	writeTargets(t, file, "shop "+shop.URL(), "cart & more "+cart.URL())
	e := Start(t, Settings{"CONFIG_FILE": file})
	exporter := strings.TrimPrefix(e.URL, "http://")
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(scrapeConfig(t, exporter)), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	cmd := exec.Command(binary, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	log := &output{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		client.CloseIdleConnections()
		if t.Failed() {
			t.Logf("prometheus printed:\n%s", log)
		}
	})
	at := "instance=" + exporter + " job=keyhealth"
	own := "instance=" + exporter + " job=keyhealth-exporter"
	for expression, want := range map[string][]string{
		"up":              {own, at + " target=cart & more", at + " target=shop"},
		"keyhealth_up":    {at + " target=cart & more", at + " target=shop"},
		"keyhealth_up==1": {at + " target=cart & more", at + " target=shop"},
		"keyhealth_group_zombie_keys{group='limit'} == 10": {"db=0 group=limit " + at + " target=shop"},
		"keyhealth_config_last_reload_success == 1":        {own},
		"process_start_time_seconds":                       {own},
	} {
		slices.Sort(want)
		var got []string
		e.eventually(t, fmt.Sprint(expression, " is ", want), func() bool {
			got = query(t, client, listen, expression)
			return slices.Equal(got, want)
		})
	}
	if got := query(t, client, listen, `{exported_target!=""}`); len(got) > 0 {
		t.Errorf("labels clash: %v", got)
	}
}

// TestOneSlowTargetDelaysNoOther: of 20 targets 5 hang; and a reload exchanges
// some of them.
func TestOneSlowTargetDelaysNoOther(t *testing.T) {
	server := redistest.Start(t)
	redistest.Fill(t, server, "for i = 1, 10 do redis.call('SET', 'x:' .. i, 1) end")
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hanging.Close() }()
	var targets []string
	for i := range 20 {
		at := server.URL()
		if i%4 == 0 {
			at = "redis://" + hanging.Addr().String()
		}
		targets = append(targets, fmt.Sprintf("t%d %s", i, at))
	}
	file := filepath.Join(t.TempDir(), "keyhealth.yml")
	writeTargets(t, file, targets...)
	e := Start(t, Settings{"CONFIG_FILE": file, "SWEEP_INTERVAL": "1s", "REDIS_TIMEOUT": "20s"})
	sweeps := func(m Metrics, i int) float64 {
		return m.Value(t, "keyhealth_sweeps_total", fmt.Sprintf("target=t%d", i))
	}
	began := time.Now()
	m := e.Wait(t, "five sweeps of each target that answers", func(m Metrics) bool {
		return !slices.ContainsFunc(targets, func(target string) bool {
			name, at, _ := strings.Cut(target, " ")
			return at == server.URL() && m.Value(t, "keyhealth_sweeps_total", "target="+name) < 5
		})
	})
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("five sweeps at an interval of 1s took %v", took)
	}
	if sweeps(m, 0) != 0 || m.Value(t, "keyhealth_up", "target=t0") != 0 {
		t.Error("a target that hangs was swept")
	}
	if status, _, err := e.Get("/probe?target=t1"); err != nil || status != http.StatusOK {
		t.Errorf("/probe answers %d, %v", status, err)
	}
	writeTargets(t, file, append([]string{"new " + server.URL()}, targets[1:]...)...)
	if err := e.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	after := e.Wait(t, "the new target", func(m Metrics) bool { return m.Has("keyhealth_up", "target=new") })
	if after.Has("keyhealth_up", "target=t0") || sweeps(after, 1) < 5 {
		t.Error("the reload left a removed target, or disturbed another")
	}
	if code, took := e.Terminate(t); code != 0 || took > 5*time.Second {
		t.Errorf("exit code %d after %v", code, took)
	}
}

package incident

// Three incidents in a real Prometheus with a real Alertmanager: how long from
// the first bad key to the alert, and what reaches whoever is on call.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// endToEnd are incidents whose keys are all there when the start is over.
var endToEnd = []string{"locked-out-crowd", "kong-sync-path", "window-index-leak"}

// averaged are alerts that want to see the same for half of 15 minutes.
var averaged = []string{"KeyhealthCallersAtRisk", "KeyhealthZombiesPresent"}

const (
	sweepInterval = 4 * time.Second
	scrapeAndRule = 2 * time.Second // one scrape and one evaluation, each every second
	// slack is for a machine that does other things: processes may wait for it.
	slack = 10 * time.Second
)

func TestEndToEnd(t *testing.T) {
	prometheus, alertmanager := redistest.Require(t, "prometheus"), redistest.Require(t, "prometheus-alertmanager")
	var files []File
	var redises []*server
	var exporters []*exporter
	for _, name := range endToEnd {
		f, err := Read(filepath.Join(testdata, "incidents", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		redis := startServer(t, f.Server)
		if f.Env == nil {
			f.Env = map[string]string{}
		}
		f.Env["SWEEP_INTERVAL"], f.Env["TARGET_NAME"] = sweepInterval.String(), name
		files, redises, exporters = append(files, f), append(redises, redis), append(exporters, startExporter(t, f, redis.Server))
	}
	for _, e := range exporters {
		e.Sweeps(t, 1) // without one KeyhealthSweepStale would be right
	}
	received := receive(t)
	am := serve(t, alertmanager, "/-/ready", "--config.file="+configFile(t, "alertmanager.yml", alertmanagerConfig(received.url)),
		"--storage.path="+t.TempDir(), "--cluster.listen-address=")
	p := serve(t, prometheus, "/-/ready", "--config.file="+configFile(t, "prometheus.yml", prometheusConfig(t, am, exporters)),
		"--storage.tsdb.path="+t.TempDir())
	eventually(t, "three scraped exporters", func() bool { return len(query(t, p, "keyhealth_up == 1")) == len(exporters) })
	begin := time.Now()
	for i, f := range files {
		redises[i].change(t, f.Start)
	}
	for i, f := range files {
		for _, alert := range f.Start.Expect.Fires {
			if slices.Contains(averaged, alert) {
				continue
			}
			var active time.Time
			eventually(t, alert+" of "+f.Name, func() (ok bool) { active, ok = activeAt(t, p, alert, f.Name); return ok })
			lasted := time.Duration(exporters[i].Scrape(t).Value(t, "keyhealth_sweep_duration_seconds") * float64(time.Second))
			took, bound := active.Sub(begin), sweepInterval+lasted+scrapeAndRule
			t.Logf("%s: %s was pending %.1f s after the first key; bound %.1f s", f.Name, alert, took.Seconds(), bound.Seconds())
			if took > bound+slack {
				t.Errorf("%s of %s came after %v, should within %v", alert, f.Name, took, bound)
			}
			eventually(t, alert+" of "+f.Name+" at the receiver", func() bool { return received.has(alert, f.Name) })
		}
	}
	received.check(t, files)
}

// alertmanagerConfig sends everything to a receiver at once.
func alertmanagerConfig(webhook string) string {
	return fmt.Sprintf(`
route: {receiver: hook, group_by: [alertname, target, db, group, severity], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: %q}]}]
`, webhook)
}

var (
	waits = regexp.MustCompile(`(?m)^( *)for: .*$`)
	keeps = regexp.MustCompile(`(?m)^ *keep_firing_for: .*\n`)
)

// prometheusConfig loads the shipped rules as they are, for the pending alerts,
// and once more without their waiting times, for those that fire.
func prometheusConfig(t *testing.T, alertmanager string, exporters []*exporter) string {
	t.Helper()
	shipped, err := filepath.Abs(alerts + "/keyhealth.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	text = keeps.ReplaceAll(waits.ReplaceAll(text, []byte("${1}for: 0s")), nil)
	atOnce := configFile(t, "at-once.rules.yml", string(text))
	var targets []string
	for _, e := range exporters {
		targets = append(targets, strings.TrimPrefix(e.URL, "http://"))
	}
	return fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%q, %q]
alerting: {alertmanagers: [{static_configs: [{targets: [%s]}]}]}
scrape_configs: [{job_name: keyhealth, static_configs: [{targets: [%s]}]}]
`, shipped, atOnce, strings.TrimPrefix(alertmanager, "http://"), strings.Join(targets, ", "))
}

func configFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serve starts a program with a web server and waits until it is ready.
func serve(t *testing.T, binary, ready string, args ...string) (url string) {
	t.Helper()
	listen := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	cmd := exec.Command(binary, append(args, "--web.listen-address="+listen)...)
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s printed:\n%s", filepath.Base(binary), log)
		}
	})
	url = "http://" + listen
	eventually(t, filepath.Base(binary), func() bool {
		response, err := web.Get(url + ready)
		if err != nil {
			return false
		}
		defer func() { _ = response.Body.Close() }()
		return response.StatusCode == http.StatusOK
	})
	return url
}

// web keeps no connections: they would outlive their test.
var web = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func eventually(t *testing.T, wanted string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited two minutes for %s", wanted)
		}
	}
}

func query(t *testing.T, prometheus, expr string) []json.RawMessage {
	t.Helper()
	var answer struct {
		Data struct{ Result []json.RawMessage }
	}
	get(t, prometheus+"/api/v1/query?query="+strings.ReplaceAll(expr, " ", "%20"), &answer)
	return answer.Data.Result
}

func get(t *testing.T, url string, into any) {
	t.Helper()
	response, err := web.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// activeAt is since when an alert of the shipped rules has waited.
func activeAt(t *testing.T, prometheus, name, target string) (time.Time, bool) {
	t.Helper()
	var answer struct {
		Data struct {
			Alerts []struct {
				Labels   map[string]string
				State    string
				ActiveAt time.Time
			}
		}
	}
	get(t, prometheus+"/api/v1/alerts", &answer)
	for _, a := range answer.Data.Alerts {
		if a.Labels["alertname"] == name && a.Labels["target"] == target && a.State == "pending" {
			return a.ActiveAt, true
		}
	}
	return time.Time{}, false
}

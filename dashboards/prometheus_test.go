// A Prometheus of a test: the process and the parts of its API that Grafana
// uses for a dashboard.

package dashboards

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

type prometheus struct {
	url    string
	client *http.Client
}

// startPrometheus scrapes the addresses every second until the test ends. It
// may not have begun when this returns.
func startPrometheus(t *testing.T, addresses ...string) *prometheus {
	t.Helper()
	binary := redistest.Require(t, "prometheus")
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs: [{job_name: keyhealth, static_configs: [{targets: [%s]}]}]\n",
		strings.Join(addresses, ", "))
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	cmd := exec.Command(binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &prometheus{url: "http://" + listen, client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		p.client.CloseIdleConnections()
		if t.Failed() {
			t.Logf("prometheus printed:\n%s", log)
		}
	})
	return p
}

// series are values by the labels of their series, in one text.
type series map[string]float64

func (s series) labels() []string { return slices.Sorted(maps.Keys(s)) }

// now asks for the present.
func (p *prometheus) now(expr string) (series, error) {
	return p.query("query", url.Values{"query": {expr}})
}

// recent asks for the last half minute, and answers the latest values.
func (p *prometheus) recent(expr string) (series, error) {
	end := time.Now()
	unix := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1e3, 'f', 3, 64) }
	return p.query("query_range", url.Values{
		"query": {expr}, "start": {unix(end.Add(-30 * time.Second))}, "end": {unix(end)}, "step": {"2"},
	})
}

func (p *prometheus) query(path string, parameters url.Values) (series, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  []any
			Values [][]any
		}
	}
	if err := p.get(path, parameters, &data); err != nil {
		return nil, err
	}
	found := series{}
	for _, one := range data.Result {
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(one.Metric)) {
			labels = append(labels, name+"="+one.Metric[name])
		}
		sample := one.Value
		if one.Values != nil {
			sample = one.Values[len(one.Values)-1]
		}
		text, _ := sample[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		found[strings.Join(labels, ",")] = value
	}
	return found, nil
}

// values are those of a label, of series that match.
func (p *prometheus) values(label, match string) ([]string, error) {
	var found []string
	err := p.get("label/"+label+"/values", url.Values{"match[]": {match}}, &found)
	return found, err
}

func (p *prometheus) get(path string, parameters url.Values, data any) error {
	response, err := p.client.Get(p.url + "/api/v1/" + path + "?" + parameters.Encode())
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("prometheus answers %s: %w", response.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("prometheus: %s", answer.Error)
	}
	return nil
}

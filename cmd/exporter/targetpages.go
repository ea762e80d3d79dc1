// The pages about targets: /probe has one target's metrics, /targets tells
// Prometheus which ones there are. They know names, and no addresses.

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/exporter-toolkit/web"

	"keyhealth/collector"
)

const (
	probePath   = "/probe"
	targetsPath = "/targets"
)

// probe serves the metrics of the target that the query names. Nothing is
// dialled: a target is there or not.
func (p pages) probe(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("target")
	if name == "" {
		http.Error(w, "the parameter target is missing: "+probePath+"?target=NAME, with a name from "+targetsPath, http.StatusBadRequest)
		return
	}
	one := named(p.targets(), name)
	if one == nil {
		http.Error(w, "there is no target of that name: "+targetsPath+" lists them", http.StatusNotFound)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector.New(one.watcher))
	p.serveMetrics(registry).ServeHTTP(w, r)
}

// discovered is a scrape target of Prometheus' HTTP service discovery.
type discovered struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// discovery lists the targets for http_sd_configs: each is this exporter, as the
// request named it, with a page and a label target of its own. The label makes
// the series up{} of each different.
func (p pages) discovery(w http.ResponseWriter, r *http.Request) {
	list := []discovered{}
	for _, one := range p.targets() {
		labels := map[string]string{
			"__metrics_path__": probePath,
			"__param_target":   one.target.Name,
			"target":           one.target.Name,
		}
		if r.TLS != nil {
			labels["__scheme__"] = "https"
		}
		list = append(list, discovered{[]string{p.hostOf(r)}, labels})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// hostOf is the exporter's address as the request has it.
func (p pages) hostOf(r *http.Request) string {
	if r.Host == "" { // HTTP/1.0
		return fmt.Sprint(r.Context().Value(http.LocalAddrContextKey))
	}
	return r.Host
}

// reloadPage reads the file again.
func (p pages) reloadPage(w http.ResponseWriter, _ *http.Request) {
	switch {
	case !p.lifecycle:
		http.Error(w, "reloading by HTTP is off: set "+nameLifecycle+"=true, or send SIGHUP", http.StatusForbidden)
	case p.reload == nil:
		http.Error(w, "there is no file to read again", http.StatusForbidden)
	default:
		if problems := p.reload(); len(problems) > 0 {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusInternalServerError)
			for _, problem := range problems {
				_, _ = fmt.Fprintln(w, problem)
			}
			return
		}
		_, _ = fmt.Fprintln(w, "reloaded")
	}
}

// targetLinks are the targets as the landing page shows them.
func (p pages) targetLinks() (links []web.LandingLinks) {
	for _, one := range p.targets() {
		name := one.target.Name
		links = append(links, web.LandingLinks{Address: probePath + "?target=" + url.QueryEscape(name), Text: "Target " + name})
	}
	return links
}

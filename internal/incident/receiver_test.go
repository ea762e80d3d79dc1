package incident

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// receiver is who is on call.
type receiver struct {
	url string

	mu  sync.Mutex
	got []notified
}

type notified struct {
	Status      string
	Labels      map[string]string
	Annotations map[string]string
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		var message struct{ Alerts []notified }
		if err := json.NewDecoder(request.Body).Decode(&message); err != nil {
			t.Errorf("what Alertmanager sent: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, message.Alerts...)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) has(alert, target string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.got, func(n notified) bool { return n.Labels["alertname"] == alert && n.Labels["target"] == target })
}

// check wants what was received to be what is expected, named and explained.
func (r *receiver) check(t *testing.T, files []File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		expected := slices.ContainsFunc(files, func(f File) bool {
			return f.Name == n.Labels["target"] && slices.Contains(f.Start.Expect.Fires, n.Labels["alertname"])
		})
		if !expected && n.Labels["severity"] != "info" {
			t.Errorf("nobody expects %v", n)
		}
		runbook := "../../" + n.Annotations["runbook"]
		if _, err := os.Stat(runbook); err != nil || !strings.Contains(n.Annotations["summary"], n.Labels["target"]) || n.Annotations["description"] == "" {
			t.Errorf("the annotations of %v: %v", n, err)
		}
	}
}

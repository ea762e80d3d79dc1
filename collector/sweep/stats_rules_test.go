// The shipped alert rules, evaluated by promtool on the figures of a run of
// sweeps, one a minute.

package sweep

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"keyhealth/collector/estimate"
	"keyhealth/internal/redistest"
)

// history is what each sweep of a run found.
type history []figuresOfSweep

type figuresOfSweep struct {
	Databases []estimate.Database
	Groups    []estimate.Group
}

func (h *history) add(result *Result) {
	var s figuresOfSweep
	s.Databases, s.Groups = estimate.Figures(&result.Counted)
	*h = append(*h, s)
}

// values are those of a sweep's series that the rules ask for.
func (s figuresOfSweep) values() map[string]float64 {
	all := map[string]float64{}
	put := func(value float64, name, labels string, of ...any) {
		all[name+`{target="shop",`+fmt.Sprintf(labels, of...)+"}"] = value
	}
	for _, d := range s.Databases {
		if z := d.Expected.Zombies; z != nil && z.Rated {
			put(z.Interval.Lower, "keyhealth_zombie_ratio_lower_bound", `db="%d"`, d.DB)
		}
	}
	for _, g := range s.Groups {
		put(1, "keyhealth_group_info", `db="%d",group=%q,ttl=%q`, g.DB, g.Name, g.TTL)
		put(g.Keys, "keyhealth_group_keys", `db="%d",group=%q`, g.DB, g.Name)
		if z := g.Zombies; z != nil {
			put(float64(z.Seen), "keyhealth_group_zombie_keys_seen", `db="%d",group=%q`, g.DB, g.Name)
			if z.Rated {
				put(z.Interval.Lower, "keyhealth_group_zombie_ratio_lower_bound", `db="%d",group=%q`, g.DB, g.Name)
			}
		}
	}
	return all
}

// series are the history's values as promtool reads them, by series; "_" where
// there is none.
func (h history) series() map[string][]string {
	all := map[string][]string{}
	for minute, s := range h {
		for name, value := range s.values() {
			for len(all[name]) < minute {
				all[name] = append(all[name], "_")
			}
			all[name] = append(all[name], strconv.FormatFloat(value, 'g', -1, 64))
		}
	}
	return all
}

// fires says whether an alert was firing at some minute of the history.
func (h history) fires(t *testing.T, alert string) bool {
	t.Helper()
	rules, err := filepath.Abs("../../alerts/keyhealth.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%q]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n", rules)
	series := h.series()
	for _, name := range slices.Sorted(maps.Keys(series)) {
		fmt.Fprintf(&b, "  - {series: '%s', values: '%s'}\n", name, strings.Join(series[name], " "))
	}
	end := len(h) - 1
	expr := fmt.Sprintf(`count(max_over_time(ALERTS{alertname="%s",alertstate="firing"}[%dm])) or vector(0)`, alert, end+1)
	fmt.Fprintf(&b, "  promql_expr_test:\n  - {expr: '%s', eval_time: %dm, exp_samples: [{labels: '{}', value: 0}]}\n", expr, end)
	file := filepath.Join(t.TempDir(), "history.yml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(redistest.Require(t, "promtool"), "test", "rules", file).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "got:") {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
	return err != nil
}

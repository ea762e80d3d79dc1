// Proof of the checks: the dashboard with one fault at a time.

package dashboards

import (
	"strings"
	"testing"
)

// mutations are replacements, at the first place where the text stands, and a
// part of the problem that must then be found.
var mutations = map[string]struct{ from, to, problem string }{
	"uid":                    {`"uid": "keyhealth"`, `"uid": "other"`, "uid, title or description"},
	"schema version":         {`"schemaVersion": 39`, `"schemaVersion": 42`, "schemaVersion 42"},
	"inputs":                 {`"uid": "keyhealth"`, `"__inputs": [], "uid": "keyhealth"`, "__inputs"},
	"id taken":               {`"id": 2,`, `"id": 1,`, "its id 1"},
	"title missing":          {`"title": "Zombies",`, `"title": "",`, "its title is missing"},
	"title taken":            {`"title": "Coverage"`, `"title": "Leaks"`, "its title is missing"},
	"panel type":             {`"type": "stat"`, `"type": "stats"`, `unknown type "stats"`},
	"description":            {`"description": "Redis deployments that`, `"description": "", "x": "`, "its description"},
	"no value":               {`"noValue": "none scraped"`, `"noValue": ""`, "says nothing"},
	"panel data source":      {"\"transparent\": false,\n      \"datasource\": {\n        \"type\": \"prometheus\",\n        \"uid\": \"${datasource}\"", "\"datasource\": {\"type\": \"prometheus\", \"uid\": \"abc\"", "its data source"},
	"query data source":      {"{\n          \"datasource\": {\n            \"type\": \"prometheus\",\n            \"uid\": \"${datasource}\"", "{\"datasource\": {\"type\": \"prometheus\", \"uid\": \"abc\"", `query "A": its data source`},
	"unit missing":           {"\"unit\": \"short\",\n", "", "has no unit"},
	"unit unknown":           {`"unit": "percentunit"`, `"unit": "percent01"`, `"percent01"`},
	"too wide":               {"\"w\": 4,\n        \"x\": 20", "\"w\": 5,\n        \"x\": 20", "outside the 24 columns"},
	"overlap":                {"\"w\": 4,\n        \"x\": 4", "\"w\": 5,\n        \"x\": 4", "overlaps"},
	"no query":               {`"targets": [`, `"tragets": [`, "asks for nothing"},
	"refId missing":          {`"refId": "A"`, `"refId": ""`, "its refId"},
	"refId taken":            {`"refId": "B"`, `"refId": "A"`, "its refId"},
	"instant":                {`"instant": true`, `"instant": false`, "graphs ask for a range"},
	"format":                 {`"format": "table"`, `"format": "time_series"`, "tables need"},
	"format unknown":         {`"format": "time_series"`, `"format": "timeseries"`, `"timeseries"`},
	"legend missing":         {`"legendFormat": "up"`, `"legendFormat": ""`, "need a legend"},
	"legend label":           {`"legendFormat": "{{target}}/{{db}} {{group}}"`, `"legendFormat": "{{target}} {{grp}}"`, `label "grp"`},
	"rate over one sweep":    {`"interval": "1m"`, `"interval": "5s"`, "several sweeps"},
	"variable undefined":     {`group=~\"$group\"`, `group=~\"$grp\"`, "$grp is not defined"},
	"variable unused":        {`$group`, `.*`, `variable "group": is not used`},
	"variable type":          {`"type": "query"`, `"type": "queries"`, `unknown type "queries"`},
	"variable kind":          {`"query": "prometheus"`, `"query": "loki"`, "is no Prometheus"},
	"variable query":         {`"query": "label_values(keyhealth_up, target)"`, `"query": "label_values(keyhealth_up target)"`, "is not understood"},
	"variable metric":        {`label_values(keyhealth_up, target)`, `label_values(keyhealth_ups, target)`, "no metric keyhealth_ups"},
	"variable all":           {`"allValue": ".*"`, `"allValue": ""`, "must take several"},
	"variable missing":       {`"name": "db"`, `"name": "database"`, "the variables are"},
	"metric unknown":         {`keyhealth_group_leaked_keys`, `keyhealth_group_leaks`, "no metric keyhealth_group_leaks"},
	"label unknown":          {`max by (target, node, error)`, `max by (target, node, kind)`, `has no label "kind"`},
	"selector unknown":       {`command=\"pttl\"`, `cmd=\"pttl\"`, `has no label "cmd"`},
	"selector missing":       {`keyhealth_group_leaked_keys{target=~\"$target\",`, `keyhealth_group_leaked_keys{`, "not limited to the targets"},
	"not aggregated":         {`max by (target, db, group) (keyhealth_group_leaked_keys`, `(keyhealth_group_leaked_keys`, "not aggregated"},
	"aggregated without it":  {`max by (target, db, group) (keyhealth_group_leaked_keys`, `max by (db, group) (keyhealth_group_leaked_keys`, "not aggregated"},
	"counted twice":          {`max by (target, db, group) (keyhealth_group_leaked_keys`, `sum by (target, db, group) (keyhealth_group_leaked_keys`, "once an exporter"},
	"no metric":              {`"expr": "max by (target) (keyhealth_sweep_coverage_ratio{target=~\"$target\"})"`, `"expr": "vector(1)"`, "asks for no metric"},
	"colour mode":            {`"mode": "palette-classic"`, `"mode": "palette-class"`, `"palette-class"`},
	"colour":                 {`"color": "orange"`, `"color": "oragne"`, `no colour "oragne"`},
	"colour of an override":  {`"fixedColor": "red"`, `"fixedColor": "rde"`, `no colour "rde"`},
	"draw style":             {`"drawStyle": "bars"`, `"drawStyle": "bar"`, `"bar"`},
	"dash":                   {`"fill": "dash"`, `"fill": "dashed"`, `"dashed"`},
	"calculation":            {`"last"`, `"latest"`, `"latest"`},
	"tooltip":                {`"mode": "multi"`, `"mode": "all"`, `"all"`},
	"stacking":               {`"mode": "normal"`, `"mode": "stack"`, `"stack"`},
	"thresholds mode":        {`"mode": "absolute"`, `"mode": "abs"`, `"abs"`},
	"thresholds fall":        {`"value": 0.05,`, `"value": 0,`, "do not rise"},
	"mapping":                {`"type": "range"`, `"type": "ranges"`, `"ranges"`},
	"mapping of an override": {`"type": "value"`, `"type": "values"`, `"values"`},
	"cell":                   {`"type": "color-text"`, `"type": "colored-text"`, `"colored-text"`},
	"override matcher":       {`"id": "byFrameRefID"`, `"id": "byRefID"`, `"byRefID"`},
	"override of nothing":    {`"options": "Zombie memory"`, `"options": "Zombi memory"`, "does not exist"},
	"override property":      {`"id": "custom.lineWidth"`, `"id": "custom.linewidth"`, `"custom.linewidth"`},
	"band to nothing":        {"\"id\": \"custom.fillBelowTo\",\n                \"value\": \"at least\"", `"id": "custom.fillBelowTo", "value": "at lest"`, "a band reaches down"},
	"transformation":         {`"id": "merge"`, `"id": "merged"`, `"merged"`},
	"column without title":   {`"Value #C": "`, `"Value #Z": "`, `"Value #C" must have a title`},
	"sorted by nothing":      {"\"displayName\": \"Zombies\"", `"displayName": "Zombie"`, `sorted by "Zombie"`},
}

// everywhere are mutations of every place and not of the first one.
var everywhere = map[string]bool{"variable unused": true}

func TestChecksFindFaults(t *testing.T) {
	text := shipped(t)
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			places := 1
			if everywhere[name] {
				places = -1
			}
			faulty := strings.Replace(text, m.from, m.to, places)
			if faulty == text {
				t.Fatalf("the dashboard does not hold %q", m.from)
			}
			found := problems(parse(t, faulty))
			if !strings.Contains(strings.Join(found, "\n"), m.problem) {
				t.Errorf("%q instead of %q was not found; these were: %q", m.to, m.from, found)
			}
		})
	}
}

// The parts of Grafana's dashboard JSON that the tests read.

package dashboards

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

const dashboardFile = "keyhealth.json"

type board struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	Description   string  `json:"description"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []variable `json:"list"`
	} `json:"templating"`

	tree any // the same, as maps and lists
}

type panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description"`
	Datasource      *source          `json:"datasource"`
	GridPos         place            `json:"gridPos"`
	Targets         []target         `json:"targets"`
	Transformations []transformation `json:"transformations"`
	FieldConfig     struct {
		Defaults struct {
			Unit       string `json:"unit"`
			NoValue    string `json:"noValue"`
			Thresholds struct {
				Steps []threshold `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
		Overrides []override `json:"overrides"`
	} `json:"fieldConfig"`
	Options struct {
		SortBy []struct {
			DisplayName string `json:"displayName"`
		} `json:"sortBy"`
	} `json:"options"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type place struct{ X, Y, W, H int }

type target struct {
	RefID        string  `json:"refId"`
	Expr         string  `json:"expr"`
	LegendFormat string  `json:"legendFormat"`
	Format       string  `json:"format"`
	Instant      bool    `json:"instant"`
	Range        bool    `json:"range"`
	Interval     string  `json:"interval"`
	Datasource   *source `json:"datasource"`
}

type transformation struct {
	ID      string `json:"id"`
	Options struct {
		ExcludeByName map[string]bool   `json:"excludeByName"`
		IndexByName   map[string]int    `json:"indexByName"`
		RenameByName  map[string]string `json:"renameByName"`
	} `json:"options"`
}

type threshold struct {
	Value *float64 `json:"value"`
	Color string   `json:"color"`
}

type override struct {
	Matcher struct {
		ID      string `json:"id"`
		Options string `json:"options"`
	} `json:"matcher"`
	Properties []struct {
		ID    string          `json:"id"`
		Value json.RawMessage `json:"value"`
	} `json:"properties"`
}

type variable struct {
	Name       string          `json:"name"`
	Label      string          `json:"label"`
	Type       string          `json:"type"`
	Query      json.RawMessage `json:"query"` // a text, or an object with one
	Definition string          `json:"definition"`
	Datasource *source         `json:"datasource"`
	Multi      bool            `json:"multi"`
	IncludeAll bool            `json:"includeAll"`
	AllValue   string          `json:"allValue"`
	Refresh    int             `json:"refresh"`
}

// text is what a variable asks for.
func (v variable) text() string {
	var query struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(v.Query, &query) == nil {
		return query.Query
	}
	_ = json.Unmarshal(v.Query, &query.Query) // what is neither stays empty
	return query.Query
}

// shipped is the text of the dashboard's file.
func shipped(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t *testing.T, text string) board {
	t.Helper()
	var b board
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatalf("%s: %v", dashboardFile, err)
	}
	if err := json.Unmarshal([]byte(text), &b.tree); err != nil {
		t.Fatal(err)
	}
	return b
}

// labelValues is the query of a variable: a metric with a selector, a label.
var labelValues = regexp.MustCompile(`^label_values\((keyhealth_\w+(?:\{.*\})?), (\w+)\)$`)

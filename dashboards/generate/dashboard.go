// The dashboard as a whole: its variables, its rows of panels, and where each
// panel stands. What a panel shows is in the files named after the rows.

package main

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// columns is the width of Grafana's grid.
const columns = 24

// schemaVersion is that of Grafana 10.4, which every later one reads.
const schemaVersion = 39

// row is a strip of panels under a title; the first one of the dashboard has
// none.
type row struct {
	title  string
	panels []placed
}

// placed is a panel with its size in the grid. Panels fill a row from left to
// right and go on below.
type placed struct {
	panel         cog.Builder[dashboard.Panel]
	width, height uint32
}

func rows() []row {
	return []row{
		overviewRow(),
		zombiesRow(),
		ttlsRow(),
		namesRow(),
		memoryRow(),
		healthRow(),
	}
}

// build makes the classic dashboard: the one that the SDK prefers needs Grafana 12.
//
//nolint:staticcheck // see above
func build() (dashboard.Dashboard, error) {
	d, err := dashboard.NewDashboardBuilder("keyhealth").
		Uid("keyhealth").
		Description("Redis keys that should expire and never will, by group: how many there are, whom they lock out, what they hold, and how sure the numbers are.").
		Tags([]string{"redis", "rate-limit", "keyhealth"}).
		Time("now-6h", "now").
		Refresh("1m").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Variables(variables()).
		Build()
	if err != nil {
		return d, err
	}
	d.SchemaVersion = schemaVersion
	d.Panels, err = layout(rows())
	return d, err
}

// layout builds the panels of all rows and gives each a place and an id.
func layout(rows []row) ([]dashboard.PanelOrRowPanel, error) {
	var laid []dashboard.PanelOrRowPanel
	var y uint32
	id := func() uint32 { return uint32(len(laid) + 1) }
	for _, r := range rows {
		if r.title != "" {
			title, err := dashboard.NewRowBuilder(r.title).Id(id()).
				GridPos(dashboard.GridPos{Y: y, W: columns, H: 1}).Build()
			if err != nil {
				return nil, fmt.Errorf("row %q: %w", r.title, err)
			}
			laid = append(laid, dashboard.PanelOrRowPanel{RowPanel: &title})
			y++
		}
		var x, height uint32
		for _, p := range r.panels {
			if x+p.width > columns {
				x, y, height = 0, y+height, 0
			}
			panel, err := p.panel.Build()
			if err != nil {
				return nil, fmt.Errorf("panel %d of row %q: %w", id(), r.title, err)
			}
			panel.Id = new(id())
			panel.GridPos = &dashboard.GridPos{X: x, Y: y, W: p.width, H: p.height}
			laid = append(laid, dashboard.PanelOrRowPanel{Panel: &panel})
			x, height = x+p.width, max(height, p.height)
		}
		y += height
	}
	return laid, nil
}

// datasource is the one that the user picks.
func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

func variables() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").
			Label("Data source").
			Description("The Prometheus that scrapes keyhealth.").
			Type("prometheus").
			Current(option("default", "default")),
		selection("target", "Target", "Redis deployments, by the name they have in keyhealth.",
			`label_values(keyhealth_up, target)`, dashboard.VariableSortAlphabeticalAsc),
		selection("db", "Database", "Databases of the targets.",
			`label_values(keyhealth_keys{`+inTarget+`}, db)`, dashboard.VariableSortNumericalAsc),
		selection("group", "Group", "Groups of keys in the databases.",
			`label_values(keyhealth_group_keys{`+inDB+`}, group)`, dashboard.VariableSortAlphabeticalAsc),
	}
}

// selection is a variable of which one, several or all values are chosen. All
// takes in what turns up later.
func selection(name, label, about, query string, sort dashboard.VariableSort) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).
		Label(label).
		Description(about).
		Datasource(datasource()).
		Query(dashboard.StringOrMap{Map: map[string]any{"query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"}}).
		Definition(query).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(sort).
		Multi(true).
		IncludeAll(true).
		AllValue(".*").
		Current(option("All", "$__all"))
}

func option(text, value string) dashboard.VariableOption {
	return dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{String: &text},
		Value:    dashboard.StringOrArrayOfString{String: &value},
	}
}

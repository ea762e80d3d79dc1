// Tables: a column is a query or a label, with its header and look.

package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// column is one of a table: of a label (field), or of an expression.
type column struct {
	title string
	field string // of a label
	expr  string // of a query
	width int    // 0: what is left
	unit  string
	look  properties
}

// dash stands in a cell without a value.
const dash = "-"

// withColumns gives a table its queries and columns, in their order. carry are
// the queries that bring labels only.
func withColumns(t *table.PanelBuilder, carry []string, columns []column) *table.PanelBuilder {
	values := valueFields(len(carry), columns)
	order, names, hide := map[string]int{}, map[string]string{}, map[string]bool{"Time": true}
	for i, expr := range carry {
		t.WithTarget(cells(letter(i), expr))
		hide[values[i]] = true
	}
	query := len(carry)
	for i, c := range columns {
		field := c.field
		if c.expr != "" {
			t.WithTarget(cells(letter(query), c.expr))
			field = values[query]
			query++
		}
		order[field], names[field] = i, c.title
		t.OverrideByName(c.title, c.settings())
	}
	return t.
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": hide, "indexByName": order, "renameByName": names,
		}})
}

// valueFields are the names that Grafana gives to the values of the queries: it
// leaves the letter out where there is only one.
func valueFields(carried int, columns []column) []string {
	queries := carried
	for _, c := range columns {
		if c.expr != "" {
			queries++
		}
	}
	if queries == 1 {
		return []string{"Value"}
	}
	fields := make([]string, queries)
	for i := range fields {
		fields[i] = "Value #" + letter(i)
	}
	return fields
}

// letter is the refId of the i-th query of a panel.
func letter(i int) string { return string(rune('A' + i)) }

func (c column) settings() properties {
	set := append(properties{property("noValue", dash)}, c.look...)
	if c.unit != "" {
		set = append(set, property("unit", c.unit))
	}
	if c.width > 0 {
		set = append(set, property("custom.width", c.width))
	}
	return set
}

type sortState = common.TableSortByFieldState

// sortedBy is the order of the rows at first.
func sortedBy(title string, descending bool) *common.TableSortByFieldStateBuilder {
	return common.NewTableSortByFieldStateBuilder().DisplayName(title).Desc(descending)
}

// judged colours the text of a cell by thresholds.
func judged(config dashboard.ThresholdsConfig) properties {
	return properties{
		property("custom.cellOptions", map[string]any{"type": common.TableCellDisplayModeColorText}),
		property("thresholds", config),
	}
}

// mapped shows words, in their colours; other values stay plain.
func mapped(mappings ...dashboard.ValueMapping) properties {
	return append(judged(steps(boundary)), property("mappings", mappings))
}

func decimals(n int) dashboard.DynamicConfigValue { return property("decimals", n) }

// Names that Grafana passes over in silence when they are wrong: the values of
// settings, units, colours, overrides, and columns of tables.

package dashboards

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// words are the values that a setting may have, by its key and, where the key
// alone says too little, by that of the object around it.
var words = map[string][]string{
	"color.mode":           {"thresholds", "fixed", "palette-classic"},
	"color.seriesBy":       {"last", "min", "max"},
	"thresholds.mode":      {"absolute", "percentage"},
	"thresholdsStyle.mode": {"off", "line", "dashed", "area"},
	"tooltip.mode":         {"single", "multi", "none"},
	"stacking.mode":        {"none", "normal", "percent"},
	"sort":                 {"asc", "desc", "none"},
	"drawStyle":            {"line", "bars", "points"},
	"showPoints":           {"auto", "never", "always"},
	"fill":                 {"solid", "dash", "dot"},
	"graphMode":            {"none", "line", "area"},
	"colorMode":            {"value", "background", "background_solid", "none"},
	"justifyMode":          {"auto", "center"},
	"textMode":             {"auto", "value", "value_and_name", "name", "none"},
	"orientation":          {"auto", "vertical", "horizontal"},
	"displayMode":          {"list", "table", "hidden"},
	"placement":            {"bottom", "right"},
	"format":               {"time_series", "table"},
	"cellHeight":           {"sm", "md", "lg", "auto"},
	"calcs[]":              {"last", "lastNotNull", "max", "min", "mean", "sum"},
	"unit":                 {"short", "percentunit", "bytes", "s", "locale"},
	"matcher.id":           {"byName", "byFrameRefID"},
	"transformations[].id": {"merge", "organize"},
	"mappings[].type":      {"value", "range"},
	"value.type":           {"color-text"},
	"properties[].id": {
		"color", "thresholds", "mappings", "unit", "decimals", "noValue",
		"custom.lineStyle", "custom.lineWidth", "custom.fillOpacity", "custom.fillBelowTo", "custom.hideFrom",
		"custom.width", "custom.cellOptions",
	},
}

// checkWords walks the whole dashboard; path is where it stands, without the
// numbers of lists.
func checkWords(node any, path string, say report) {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			checkWords(node[key], path+"."+key, say)
		}
		checkProperty(node, path, say)
	case []any:
		for _, one := range node {
			checkWords(one, path+"[]", say)
		}
	case string:
		parts := strings.Split(path, ".")
		key := parts[len(parts)-1]
		around := parts[max(0, len(parts)-2)] + "." + key
		allowed, known := words[around]
		if !known {
			allowed, known = words[key]
		}
		if known && !slices.Contains(allowed, node) {
			say("%s: %q is none of %v", strings.TrimPrefix(path, "."), node, allowed)
		}
		if (key == "color" || key == "fixedColor" || key == "iconColor") && !colorPattern.MatchString(node) {
			say("%s: no colour %q", strings.TrimPrefix(path, "."), node)
		}
	}
}

// checkProperty walks the value of an override as if it stood in the defaults.
func checkProperty(node map[string]any, path string, say report) {
	if id, ok := node["id"].(string); ok && strings.HasSuffix(path, ".properties[]") {
		checkWords(node["value"], path+"."+strings.TrimPrefix(id, "custom."), say)
	}
}

var colorPattern = regexp.MustCompile(`^(text|transparent|#[0-9a-f]{6}|((super-light|light|semi-dark|dark)-)?(red|orange|yellow|green|blue|purple))$`)

// checkLooks checks thresholds and that overrides are about something.
func checkLooks(p panel, say report) {
	for i, step := range p.FieldConfig.Defaults.Thresholds.Steps {
		if i == 0 && step.Value != nil || i > 0 && (step.Value == nil || i > 1 && *step.Value <= *p.FieldConfig.Defaults.Thresholds.Steps[i-1].Value) {
			say("its thresholds do not rise from null")
		}
	}
	for _, o := range p.FieldConfig.Overrides {
		found := false
		switch o.Matcher.ID {
		case "byFrameRefID":
			found = slices.ContainsFunc(p.Targets, func(q target) bool { return q.RefID == o.Matcher.Options })
		case "byName":
			found = slices.Contains(p.columns(), o.Matcher.Options)
		}
		if !found {
			say("an override is for %s %q, which does not exist", o.Matcher.ID, o.Matcher.Options)
		}
		for _, property := range o.Properties {
			if property.ID == "custom.fillBelowTo" && !slices.ContainsFunc(p.Targets, func(q target) bool {
				return `"`+q.LegendFormat+`"` == string(property.Value)
			}) {
				say("a band reaches down to %s, which does not exist", property.Value)
			}
		}
	}
}

// columns are the titles of a table's columns, in any order.
func (p panel) columns() []string {
	for _, transformation := range p.Transformations {
		if names := transformation.Options.RenameByName; names != nil {
			return slices.Collect(maps.Values(names))
		}
	}
	return nil
}

// checkTable compares the columns of a table with what its queries answer.
func checkTable(p panel, say report) {
	if p.Type != "table" {
		return
	}
	answers := map[string]bool{"Time": true}
	for _, q := range p.Targets {
		if name := "Value #" + q.RefID; len(p.Targets) > 1 {
			answers[name] = true
		} else {
			answers["Value"] = true
		}
		outer := byPattern.FindStringSubmatch(q.Expr)
		for label := range strings.SplitSeq(outer[1], ",") {
			answers[strings.TrimSpace(label)] = true
		}
	}
	if len(p.Transformations) != 2 {
		say("a table needs its queries merged and its columns organized")
		return
	}
	organized := p.Transformations[1].Options
	for name := range answers {
		if _, named := organized.RenameByName[name]; named == organized.ExcludeByName[name] {
			say("the column %q must have a title or be hidden", name)
		}
	}
	for name := range organized.RenameByName {
		if !answers[name] {
			say("no query answers the column %q", name)
		}
	}
	for _, sort := range p.Options.SortBy {
		if !slices.Contains(p.columns(), sort.DisplayName) {
			say("sorted by %q, which does not exist", sort.DisplayName)
		}
	}
}

// Field settings that hold for some series or columns of a panel only.

package main

import (
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

type properties = []dashboard.DynamicConfigValue

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

func colored(color string) dashboard.DynamicConfigValue {
	return property("color", map[string]any{"mode": "fixed", "fixedColor": color})
}

// limit is the look of a line that should not be crossed.
func limit(color string) properties {
	return properties{
		colored(color),
		property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{8, 8}}),
		property("custom.lineWidth", 1),
		property("custom.fillOpacity", 0),
	}
}

// unnamed keeps a line out of the legend.
func unnamed() dashboard.DynamicConfigValue {
	return property("custom.hideFrom", map[string]bool{"legend": true, "tooltip": false, "viz": false})
}

// texts shows words instead of values.
func texts(words map[float64]dashboard.ValueMappingResult) dashboard.ValueMapping {
	options := map[string]dashboard.ValueMappingResult{}
	for value, word := range words {
		options[strconv.FormatFloat(value, 'g', -1, 64)] = word
	}
	return dashboard.ValueMapping{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}}
}

// between shows a word for values of a range; nil is without end.
func between(low, high *float64, text, color string) dashboard.ValueMapping {
	return dashboard.ValueMapping{RangeMap: &dashboard.RangeMap{
		Type:    dashboard.MappingTypeRangeToText,
		Options: dashboard.DashboardRangeMapOptions{From: low, To: high, Result: word(text, color)},
	}}
}

func word(text, color string) dashboard.ValueMappingResult {
	return dashboard.ValueMappingResult{Text: new(text), Color: new(color)}
}

func yesNo() dashboard.ValueMapping {
	return texts(map[float64]dashboard.ValueMappingResult{0: word("no", bad), 1: word("yes", good)})
}

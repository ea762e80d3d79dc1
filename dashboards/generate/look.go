// How things look: colours by meaning, thresholds, and what the panels of one
// kind have in common. Which panels there are is not said here.

package main

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// One colour a meaning, on every panel.
const (
	good     = "green"
	unsure   = "orange" // worth a look
	bad      = "red"    // zombies, failures
	worse    = "dark-red"
	slight   = "yellow" // a few, or a long TTL
	plain    = "blue"   // a quantity that is neither good nor bad
	boundary = "text"   // a limit that was set
)

// alarm is the share of zombies, or of keys that nobody has described, from
// which the alert rules fire.
const alarm = 0.05

// numbers is a stat panel: what is true now.
func numbers(title, about, none string) *stat.PanelBuilder {
	return stat.NewPanelBuilder().
		Title(title).
		Description(about).
		Datasource(datasource()).
		NoValue(none).
		GraphMode(common.BigValueGraphModeNone).
		ColorMode(common.BigValueColorModeValue).
		JustifyMode(common.BigValueJustifyModeCenter).
		TextMode(common.BigValueTextModeAuto).
		Orientation(common.VizOrientationVertical).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"last"}).Values(false).Fields(""))
}

// fixed is one colour for all lines.
func fixed(color string) *dashboard.FieldColorBuilder {
	return colorBy(dashboard.FieldColorModeIdFixed).FixedColor(color)
}

// worstShown colours each line by the threshold that it has reached at its
// worst. (Its latest value is none where a line ends, and none looks healthy.)
func worstShown() *dashboard.FieldColorBuilder {
	return colorBy(dashboard.FieldColorModeIdThresholds).SeriesBy(dashboard.FieldColorSeriesByModeMax)
}

// lines is a graph from 0 up, each line in a colour of its own.
func lines(title, about, none string) *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().
		Title(title).
		Description(about).
		Datasource(datasource()).
		NoValue(none).
		Min(0).
		ColorScheme(colorBy(dashboard.FieldColorModeIdPaletteClassic)).
		DrawStyle(common.GraphDrawStyleLine).
		LineWidth(2).
		FillOpacity(8).
		ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().
			DisplayMode(common.LegendDisplayModeList).
			Placement(common.LegendPlacementBottom).
			ShowLegend(true).
			Calcs([]string{})).
		Tooltip(common.NewVizTooltipOptionsBuilder().
			Mode(common.TooltipDisplayModeMulti).
			Sort(common.SortOrderDescending))
}

// latest is a legend that shows the latest value beside each name.
func latest() *common.VizLegendOptionsBuilder {
	return common.NewVizLegendOptionsBuilder().
		DisplayMode(common.LegendDisplayModeTable).
		Placement(common.LegendPlacementRight).
		ShowLegend(true).
		Calcs([]string{"lastNotNull"}).
		SortBy("Last *").
		SortDesc(true)
}

// grid is a table of the present.
func grid(title, about, none string) *table.PanelBuilder {
	return table.NewPanelBuilder().
		Title(title).
		Description(about).
		Datasource(datasource()).
		NoValue(none).
		ShowHeader(true).
		CellHeight(common.TableCellHeightSm).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{"sum"})).
		ColorScheme(colorBy(dashboard.FieldColorModeIdThresholds))
}

func colorBy(mode dashboard.FieldColorModeId) *dashboard.FieldColorBuilder {
	return dashboard.NewFieldColorBuilder().Mode(mode)
}

// from is one step of thresholds: color holds from value on.
type from struct {
	value float64
	color string
}

// steps are thresholds over a base colour.
func steps(base string, above ...from) dashboard.ThresholdsConfig {
	all := []dashboard.Threshold{{Color: base}}
	for _, step := range above {
		all = append(all, dashboard.Threshold{Value: new(step.value), Color: step.color})
	}
	return dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: all}
}

// anyAt colours a count of which 0 is the only good one.
func anyAt(color string) dashboard.ThresholdsConfig {
	return steps(good, from{0.5, color}) // estimates are no whole numbers
}

// many colours a count by how many there are, so that groups can be told apart.
// From 20 on the alert on the share of zombies may fire.
func many() dashboard.ThresholdsConfig {
	return steps(good, from{0.5, slight}, from{20, unsure}, from{200, bad}, from{2000, worse})
}

// share colours a share of keys without TTL as the alert rules see it.
func share() dashboard.ThresholdsConfig {
	return steps(good, from{1e-9, unsure}, from{alarm, bad})
}

// built hands a finished value to a builder that wants a builder.
type built[T any] struct{ value T }

func (b built[T]) Build() (T, error) { return b.value, nil }

func thresholds(config dashboard.ThresholdsConfig) cog.Builder[dashboard.ThresholdsConfig] {
	return built[dashboard.ThresholdsConfig]{config}
}

// line draws thresholds into a graph.
func line() cog.Builder[common.GraphThresholdsStyleConfig] {
	return common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed)
}

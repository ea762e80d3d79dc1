// keyhealth check-config: what is in force, with secrets hidden. The settings
// have been checked when it is called.

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"keyhealth/collector"
)

func checkConfig(w io.Writer, cfg *config) {
	fmt.Fprintln(w, "The configuration is valid.")
	topic, width := "", 0
	rows := cfg.table()
	for _, row := range rows {
		width = max(width, len(row.name))
	}
	for _, row := range rows {
		if row.topic != topic {
			topic = row.topic
			fmt.Fprintf(w, "\n%s\n", topic)
		}
		fmt.Fprintf(w, "  %-*s  %s\n", width, row.name, cfg.inForce(row))
	}
	printRules(w, cfg.rules)
	printPresets(w, cfg.Presets.selected())
}

// inForce is the value of a setting as text.
func (c *config) inForce(row setting) string {
	switch value := row.value.(type) {
	case databases:
		return databases(c.databases()).String()
	case []string:
		return strings.Join(value, ",")
	}
	text := fmt.Sprint(row.value)
	if text == "" {
		return "-"
	}
	return plain(text)
}

func printRules(w io.Writer, rules []collector.Rule) {
	if len(rules) == 0 {
		fmt.Fprintf(w, "\nNo groups are described: see %s.\n", nameGroups)
		return
	}
	fmt.Fprintln(w, "\nGroups, in order: the first match wins")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  NAME\tMATCH\tTTL\tMAX TTL\tLIMIT\tLOCKOUT\tCOUNTS\tUNIQUE")
	for _, rule := range rules {
		rule = rule.WithDefaults()
		limit, maxTTL := "-", "-"
		if rule.Limit > 0 {
			limit = strconv.FormatInt(rule.Limit, 10)
		}
		if rule.TTL != collector.Persistent {
			maxTTL = rule.MaxTTL.String()
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%t\t%s\t%t\n",
			plain(rule.Name), plain(strings.Join(rule.Match, " ")), rule.TTL, maxTTL, limit,
			*rule.Lockout, rule.Counts, rule.UniqueNames)
	}
	_ = table.Flush()
}

// printPresets names the presets that are in force.
func printPresets(w io.Writer, presets []collector.Preset) {
	if len(presets) == 0 {
		fmt.Fprintf(w, "\nNo presets are in force: see %s.\n", namePresets)
		return
	}
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	fmt.Fprintf(w, "\nPresets in force (%d), for the keys that no group above has\n%s", len(names), wrapped(strings.Join(names, ", "), 2))
}

// plain quotes text that would disturb a terminal or the columns.
func plain(text string) string {
	if printable(text) {
		return text
	}
	return strconv.Quote(text)
}

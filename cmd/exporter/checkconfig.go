// keyhealth check-config: what is in force, with secrets hidden. The settings
// have been checked when it is called.

package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"keyhealth/collector/classify"
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
	groups := "Groups"
	if len(cfg.each) > 0 {
		groups = "Groups of targets that have none of their own"
	}
	printRules(w, groups, cfg.rules)
	printPresets(w, "Presets in force", cfg.Presets.selected())
	for _, own := range cfg.each {
		printTarget(w, own)
	}
}

// printTarget shows what a target of the file says itself. All else is as above.
func printTarget(w io.Writer, own *config) {
	fmt.Fprintf(w, "\nTarget %s\n", plain(own.TargetName))
	rows := own.table()
	for _, key := range targetKeys() {
		if own.entry.has(key.name) && key.setting != nameTargetName {
			fmt.Fprintf(w, "  %-22s  %s\n", key.name, own.inForce(find(rows, key.setting)))
		}
	}
	if own.entry.discovery != nil {
		fmt.Fprintf(w, "  %-22s  of its own\n", "discovery")
	}
	if own.entry.groups != nil {
		printRules(w, "Groups of "+plain(own.TargetName), own.rules)
	}
	if own.entry.presets != nil {
		printPresets(w, "Presets of "+plain(own.TargetName), own.Presets.selected())
	}
}

// inForce is the value of a setting as text.
func (c *config) inForce(row setting) string {
	if len(c.each) > 0 && (row.name == nameRedisURL || row.name == nameTargetName) {
		return "of each target, see below"
	}
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

func printRules(w io.Writer, title string, rules []classify.Rule) {
	if len(rules) == 0 {
		fmt.Fprintf(w, "\nNo groups are described: see %s.\n", nameGroups)
		return
	}
	fmt.Fprintf(w, "\n%s, in order: the first match wins\n", title)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  NAME\tMATCH\tTTL\tMAX TTL\tLIMIT\tLOCKOUT\tCOUNTS\tUNIQUE")
	for _, rule := range rules {
		rule = rule.WithDefaults()
		limit, maxTTL := "-", "-"
		if rule.Limit > 0 {
			limit = strconv.FormatInt(rule.Limit, 10)
		}
		if rule.TTL != classify.Persistent {
			maxTTL = rule.MaxTTL.String()
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%t\t%s\t%t\n",
			plain(rule.Name), plain(strings.Join(rule.Match, " ")), rule.TTL, maxTTL, limit,
			*rule.Lockout, rule.Counts, rule.UniqueNames)
	}
	_ = table.Flush()
	for _, doubt := range doubts(rules) {
		fmt.Fprintf(w, "  ! %s", strings.TrimLeft(wrapped(doubt, 4), " "))
	}
}

// printPresets names the presets that are in force.
func printPresets(w io.Writer, title string, presets []classify.Preset) {
	if len(presets) == 0 {
		fmt.Fprintf(w, "\nNo presets are in force: see %s.\n", namePresets)
		return
	}
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	fmt.Fprintf(w, "\n%s (%d), for the keys that no group above has\n%s", title, len(names), wrapped(strings.Join(names, ", "), 2))
}

// plain quotes text that would disturb a terminal or the columns.
func plain(text string) string {
	if printable(text) {
		return text
	}
	return strconv.Quote(text)
}

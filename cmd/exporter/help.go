// --help: commands and flags from kingpin, settings from their table.

package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"
)

const usageTemplate = `usage: {{.App.Name}} [<flags>] [<command>]

{{.App.Help}}

Commands:
{{.App.Commands|Commands|FormatTwoColumns}}
Flags:
{{.App.Flags|Flags|FormatTwoColumns}}
{{Settings}}`

const textWidth = 78

func usageFuncs() map[string]any {
	return map[string]any{
		"Commands": commandRows,
		"Flags":    flagRows,
		"Settings": settingsHelp,
	}
}

func commandRows(commands []*kingpin.CmdModel) [][2]string {
	var rows [][2]string
	for _, command := range commands {
		if !command.Hidden && command.Name != "help" {
			rows = append(rows, [2]string{command.Name, command.Help})
		}
	}
	return rows
}

func flagRows(flags []*kingpin.FlagModel) [][2]string {
	var rows [][2]string
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		name := "--" + flag.Name
		if flag.Short != 0 {
			name = "-" + string(flag.Short) + ", " + name
		}
		if !flag.IsBoolFlag() {
			name += "=" + flag.FormatPlaceHolder()
		}
		rows = append(rows, [2]string{name, flag.Help})
	}
	return rows
}

// settingsHelp lists the settings by topic: name and default, and below it what
// it means.
func settingsHelp() string {
	var text strings.Builder
	text.WriteString("Settings, from the environment. Set but empty counts as unset; durations are\n" +
		"numbers with ms, s, m, h, d or w.\n")
	topic := ""
	for _, row := range new(settings).table() {
		if row.topic != topic {
			topic = row.topic
			fmt.Fprintf(&text, "\n%s\n", topic)
		}
		fmt.Fprintf(&text, "  %s", row.name)
		if row.initial != "" {
			fmt.Fprintf(&text, " (default %s)", row.initial)
		}
		fmt.Fprintf(&text, "\n%s", wrapped(row.meaning, 6))
	}
	text.WriteString("\nA file for KEYHEALTH_CONFIG_FILE:\n\n")
	for line := range strings.Lines(exampleFile) {
		text.WriteString("  " + line)
	}
	text.WriteString("\nExit codes: 0 fine, 1 the self-test failed, 2 wrong usage or configuration,\n" +
		"3 Redis cannot be reached or refuses, 130 interrupted.\n")
	return text.String()
}

// exampleFile is shown by --help and in docs/settings.md, and is valid.
const exampleFile = `presets: [distinctive, kong]    # known libraries: docs/presets.md
groups:
  - name: ocr
    match: "rate_limit:ocr:*"   # Redis glob, or a list of them
    ttl: expected               # expected, persistent or unknown
    window: 60s                 # max TTL = 2 x window
    limit: 50                   # calls a window: zombies lock callers out
  - name: flags
    match: ["flags:*", "feature:*"]
    ttl: persistent             # keys without TTL are meant here
`

// exampleTargets is shown in docs/settings.md, and is valid.
const exampleTargets = `targets:
  - name: shop
    url: redis://10.0.0.1:6379,10.0.0.2:6379      # seeds of a Cluster
    username: keyhealth
    password_file: /run/secrets/shop
  - name: sessions
    url: rediss+sentinel://s1,s2,s3/mymaster
    sentinel: {username: keyhealth, password_file: /run/secrets/sentinels}
    tls: {ca_file: /etc/keyhealth/ca.pem}
    sweep: {interval: 5m, max_keys: 20000}
    groups: []                                    # discovered ones only
`

// wrapped breaks text into indented lines that fit a terminal of 80 columns.
func wrapped(text string, indent int) string {
	var lines strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
			lines.WriteString(strings.Repeat(" ", indent))
			column = indent
		case column+1+len(word) > textWidth:
			lines.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			lines.WriteString(" ")
			column++
		}
		lines.WriteString(word)
		column += len(word)
	}
	return lines.String() + "\n"
}

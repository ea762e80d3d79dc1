// docs/presets.md is made from presets.yaml; go test ./collector -update. It is here
// and not in classify because -update and wantFile are.

package collector

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"keyhealth/collector/classify"
)

const presetsIntroduction = `# Presets

<!-- Generated from collector/classify/presets.yaml by "make docs"; do not edit. -->

A preset knows what one library or gateway leaves in Redis: the names of its keys, whether they should have a TTL, how long
it may be, and what a key without one does to its caller. It saves writing a rule. The facts are read from the libraries'
own code; the file that was read is in ` + "`collector/classify/presets.yaml`" + `.

    KEYHEALTH_PRESETS=distinctive,redis-rate     # or presets: [distinctive, redis-rate] in the YAML file

- ` + "`distinctive`" + ` (the default) stands for %d of the %d: those whose names no healthy application has for keys that it
  means to keep. They are safe on a Redis that you do not know. ` + "`all`" + ` is every preset, ` + "`none`" + ` is none.
- Switch the others on by name where you know that the library is in use: ` + "`rate:*`" + ` may be a limiter, or a table of rates.
- Rules come before presets, presets before discovery. A preset is one group, which has its name. It shows only where it has keys.
- Where several presets match a name, the one with more literal bytes has the key. A preset with a type has the keys of that type
  only: of two with the same names (` + "`rate:*`" + `) the type decides, and a key of another type belongs to neither.
- Only the default names are known. With a prefix of your own, write a rule (docs/settings.md).

TTL: ` + "`expected`" + `, a key without one is a fault; ` + "`persistent`" + `, none is meant by design; ` + "`unknown`" + `, both are legitimate, so keys
without TTL are shown and nothing is alarmed. Longest TTL: above it a TTL is excessive; empty is 366 days. In the globs
` + "`[0-9]×9`" + ` stands for nine times ` + "`[0-9]`" + `.

| preset | default | keys | type | TTL | longest TTL | a key without TTL |
|---|---|---|---|---|---|---|
`

func TestPresetsPage(t *testing.T) {
	presets := classify.Presets()
	var rows strings.Builder
	distinctive := 0
	for i := range presets {
		p := &presets[i]
		byDefault := ""
		if p.Distinctive {
			distinctive++
			byDefault = "yes"
		}
		globs := make([]string, len(p.Match))
		for i, glob := range p.Match {
			globs[i] = "`" + shortGlob(glob) + "`"
		}
		fmt.Fprintf(&rows, "| [%s](https://github.com/%s) | %s | %s | %s | %s | %s | %s |\n",
			p.Name, p.Project, byDefault, strings.Join(globs, "<br>"), p.Type, p.TTL, longestTTL(p), withoutTTL(p))
	}
	wantFile(t, "../docs/presets.md", fmt.Sprintf(presetsIntroduction, distinctive, len(presets))+rows.String())
}

// longestTTL is the cell of the longest legitimate TTL.
func longestTTL(p *classify.Preset) string {
	switch {
	case p.MaxTTL > 0:
		return p.MaxTTL.String()
	case p.Window != "" && p.WindowFits == 1:
		return "the window, which is in the name"
	case p.Window != "":
		return fmt.Sprintf("%v x the window, which is in the name", p.WindowFits)
	}
	return ""
}

// withoutTTL is the cell that says what a key without TTL means.
func withoutTTL(p *classify.Preset) string {
	meaning := ""
	switch {
	case p.Lockout:
		meaning = "Locks its caller out. "
	case p.TTL == classify.Expected && p.UniqueNames:
		meaning = "Leaks memory. "
	}
	return strings.TrimSpace(meaning + p.Note)
}

var classRun = regexp.MustCompile(`(?:\[0-9\]){4,}|(?:\[0-9a-f\]){4,}`)

// shortGlob writes a run of equal classes as one of them.
func shortGlob(glob string) string {
	return classRun.ReplaceAllStringFunc(glob, func(run string) string {
		class, _, _ := strings.Cut(run, "]")
		class += "]"
		return fmt.Sprintf("%s×%d", class, len(run)/len(class))
	})
}

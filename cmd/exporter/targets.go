// What the targets of the file are in the end: each is a configuration of its
// own, in which what it does not say is what the environment says.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
)

// targets are what the collector is to watch: those of the file, or the one of
// the environment.
func (c *config) targets() []spec.Target {
	if len(c.each) == 0 {
		return []spec.Target{c.target()}
	}
	targets := make([]spec.Target, len(c.each))
	for i, own := range c.each {
		targets[i] = own.target()
	}
	return targets
}

// targets makes and checks the configuration of each target of the file.
func (v *validator) targets(entries []*fileTarget) {
	for _, name := range []string{nameRedisURL, nameTargetName} {
		if !v.cfg.given[name].isEmpty() {
			v.refuse(name, "must not be given together with targets in KEYHEALTH_CONFIG_FILE")
		}
	}
	lines := map[string]*fileTarget{}
	for _, entry := range entries {
		own, problems := v.cfg.with(entry)
		if len(problems) == 0 {
			problems = validateTarget(own, entry)
		}
		name := entry.values["name"].text
		if lines[name] != nil {
			problems = append(problems, entry.placed(problem{subject: nameTargetName, rule: "must be different in every target"}))
		}
		lines[name] = entry
		v.problems = append(v.problems, problems...)
		v.cfg.each = append(v.cfg.each, own)
	}
}

func validateTarget(own *config, entry *fileTarget) []problem {
	v := &validator{cfg: own, rows: own.table(), entry: entry}
	switch {
	case !entry.has("url"):
		v.refuse(nameRedisURL, "is missing: say where this Redis is")
	case own.Redis.URL.hasUser():
		v.refuse(nameRedisURL, "must not hold a user or password: give username and password_file")
	default:
		v.scalars()
		v.redis()
	}
	return v.problems
}

// with is the configuration of a target of the file.
func (c *config) with(entry *fileTarget) (*config, []problem) {
	own := *c
	own.entry, own.given, own.each = entry, maps.Clone(c.given), nil
	rows := own.table()
	problems := entry.apply(rows, own.given)
	forget := func(settings string) {
		for _, row := range rows {
			if strings.HasPrefix(row.name, settings) {
				row.field.SetZero()
				delete(own.given, row.name)
			}
		}
	}
	// What is the default of all is not meant for those that have no use for it.
	url := own.Redis.URL
	if entry.has("password_file") {
		own.Redis.Password = secret{}
		delete(own.given, namePassword)
	}
	if !url.usesTLS() && !entry.has("tls") {
		forget(prefixTLS)
	}
	if !url.isSentinel() && !entry.has("sentinel") {
		forget(prefixSentinel)
	}
	if url.database != nil && !entry.has("databases") {
		forget(nameDatabases)
	}
	if entry.groups != nil {
		own.rules = slices.Clone(entry.groups)
	}
	if entry.presets != nil {
		own.Presets = *entry.presets
	}
	if entry.discovery != nil {
		own.discovery = classify.Discovery(*entry.discovery)
	}
	return &own, problems
}

// has says whether the target itself gives a key, or one under it.
func (t *fileTarget) has(key string) bool {
	for name := range t.values {
		if name == key || strings.HasPrefix(name, key+".") {
			return true
		}
	}
	return false
}

// placed words a setting's problem for the file: where, and by the names that
// the file has for settings. The line is that of the key, or of the target where
// the value is not its own.
func (t *fileTarget) placed(p problem) problem {
	key, line := p.subject, t.line
	names := []string{}
	for _, k := range targetKeys() {
		if k.setting == p.subject {
			key = k.name
		}
		names = append(names, k.setting, k.name)
	}
	if value, own := t.values[key]; own {
		line = value.line
	}
	return problem{
		subject: fmt.Sprintf("%s, line %d", t.path, line),
		rule:    t.description + ": " + key + " " + longestFirst(names).Replace(p.rule),
	}
}

// longestFirst replaces each name by the one after it in pairs, and no beginning
// of a longer name.
func longestFirst(pairs []string) *strings.Replacer {
	sorted := [][]string{}
	for pair := range slices.Chunk(pairs, 2) {
		sorted = append(sorted, pair)
	}
	slices.SortStableFunc(sorted, func(a, b []string) int { return len(b[0]) - len(a[0]) })
	return strings.NewReplacer(slices.Concat(sorted...)...)
}

// apply puts the target's values in the place of the settings in rows.
func (t *fileTarget) apply(rows []setting, given map[string]secret) (problems []problem) {
	for _, key := range targetKeys() {
		value, own := t.values[key.name]
		if !own {
			continue
		}
		row := find(rows, key.setting)
		delete(given, row.name)
		if value.text == "" && mayBeEmpty(row) {
			row.field.SetZero()
			continue
		}
		if err := row.set(value.text); err != nil {
			problems = append(problems, t.placed(row.broken("", err)))
			continue
		}
		given[row.name] = newSecret(value.text)
	}
	return problems
}

// mayBeEmpty is true for the settings whose empty text says that there is none.
func mayBeEmpty(row setting) bool {
	switch row.value.(type) {
	case secret, string:
		return true
	}
	return false
}

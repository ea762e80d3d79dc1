// Groups that are valid and yet hardly meant as they stand: shown by check-config
// and logged at the start. What is wrong outright is validate.go.

package main

import (
	"fmt"
	"regexp"
	"strings"

	"keyhealth/collector/classify"
)

// asRegexp are the marks of a regular expression that no Redis glob has a use for.
// "[0-9]*" is not among them: it is a glob too.
var asRegexp = regexp.MustCompile(`^\^|\$$|\.\*|\.\+|\\[dws]|\([^)]*\||\]\+|\]\{[0-9]|\)[?+]|\(\?[:=!]`)

// keptSuffix is what the quick form would have read, had it stood after its last @.
func keptSuffix(glob string) string {
	at := strings.LastIndexByte(glob, '@')
	if at < 0 {
		return ""
	}
	window, err := classify.ParseDuration(glob[at+1:])
	if err == nil && window > 0 || glob[at+1:] == string(classify.Persistent) {
		return glob[at:]
	}
	return ""
}

// doubts are the reasons to look at the rules again, one line each.
func doubts(rules []classify.Rule) []string {
	var found []string
	for i, rule := range rules {
		for _, glob := range rule.Match {
			switch {
			case asRegexp.MatchString(glob):
				found = append(found, fmt.Sprintf("group %s: %s looks like a regular expression; a Redis glob knows * ? [...] and \\", plain(rule.Name), plain(glob)))
			case strings.Count(glob, "[") > strings.Count(glob, "]") && !strings.Contains(glob, `\[`):
				found = append(found, fmt.Sprintf(`group %s: "[" is never closed in %s; a "[" of the name itself is written \[`, plain(rule.Name), plain(glob)))
			case strings.Count(glob, "{") != strings.Count(glob, "}"):
				found = append(found, fmt.Sprintf("group %s: braces do not match in %s; a Redis glob has no {a,b}, and a comma ends a group of %s", plain(rule.Name), plain(glob), nameGroups))
			case keptSuffix(glob) != "":
				found = append(found, fmt.Sprintf("group %s: %s is part of the glob %s: a group of %s has one @, and one of a file has window and ttl", plain(rule.Name), keptSuffix(glob), plain(glob), nameGroups))
			case rule.TTL != classify.Persistent && !strings.ContainsAny(glob, `*?[\`): // a flag is often one key
				found = append(found, fmt.Sprintf("group %s: %s has no wildcard: it is one key, or a * is missing", plain(rule.Name), plain(glob)))
			}
		}
		if by := shadow(rule, rules[:i]); by != "" {
			found = append(found, fmt.Sprintf("group %s gets no keys: %s comes first and takes them all; the first match wins", plain(rule.Name), plain(by)))
		}
	}
	return found
}

// shadow is the name of the one earlier rule that takes every key of a rule, as
// far as their literal beginnings tell.
func shadow(rule classify.Rule, earlier []classify.Rule) string {
	for _, before := range earlier {
		all := true
		for _, glob := range rule.Match {
			all = all && covered(glob, before.Match)
		}
		if all {
			return before.Name
		}
	}
	return ""
}

// covered says whether one of the globs is the other's beginning and a star.
func covered(glob string, by []string) bool {
	for _, wide := range by {
		beginning, star := strings.CutSuffix(wide, "*")
		if star && !strings.ContainsAny(beginning, `*?[\`) && strings.HasPrefix(glob, beginning) {
			return true
		}
	}
	return false
}

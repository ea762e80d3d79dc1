// The names in the environment: ours, those that Kubernetes puts there, and
// misspelt ones.

package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kingpin/v2"
)

// environment returns our part of the environment by name, without what is
// set but empty, which counts as unset.
func environment() map[string]secret {
	given := map[string]secret{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case !strings.HasPrefix(name, prefix):
		case value == "":
			// envconfig would take it for a value; there is no other way to tell it.
			_ = os.Unsetenv(name)
		default:
			given[name] = newSecret(value)
		}
	}
	return given
}

// unknownNames reports every name that is neither a setting nor Kubernetes'.
func unknownNames(given map[string]secret, rows []setting) []problem {
	var known []string
	for _, row := range rows {
		known = append(known, row.name)
	}
	var problems []problem
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(known, name) || isServiceLink(name, given[name].reveal()):
		default:
			problems = append(problems, problem{
				subject: name,
				rule:    "no such setting" + nearest(name, known) + "; keyhealth --help lists them",
			})
		}
	}
	return problems
}

// nearest names the known word that a misspelt one may be, as the end of a
// sentence; it is empty where none is like it.
func nearest(name string, known []string) string {
	short := strings.TrimPrefix(name, prefix)
	distance := func(word string) int {
		if strings.HasPrefix(strings.TrimPrefix(word, prefix), short) {
			return 0
		}
		return levenshtein.ComputeDistance(name, word)
	}
	best := slices.MinFunc(known, func(a, b string) int { return distance(a) - distance(b) })
	if distance(best) > max(2, len(short)/2) {
		return ""
	}
	return ", the nearest is " + best
}

// misspelt finds the unknown word in an error of kingpin.
var misspelt = regexp.MustCompile(`^(?:expected command but got "(.+)"|unknown long flag '(--.+)')$`)

// withNearest adds the command or the flag that a misspelt one may be, or whose
// the flag is.
func withNearest(err error, app *kingpin.ApplicationModel, args []string) error {
	if err == nil {
		return nil
	}
	word := misspelt.FindStringSubmatch(err.Error())
	if word == nil {
		return err
	}
	var commands []string
	flags := flagNames(app.FlagGroupModel)
	for _, command := range app.Commands {
		if command.Name != "help" { // kingpin's own, which nobody is pointed to
			commands = append(commands, command.Name)
		}
		own := flagNames(command.FlagGroupModel)
		if slices.Contains(own, word[2]) {
			return fmt.Errorf("%w, which is a flag of %s", err, command.Name)
		}
		if slices.Contains(args, command.Name) {
			flags = append(flags, own...)
		}
	}
	known := commands
	if word[2] != "" {
		known = flags
	}
	return fmt.Errorf("%w%s", err, nearest(word[1]+word[2], known))
}

func flagNames(group *kingpin.FlagGroupModel) (names []string) {
	for _, flag := range group.Flags {
		if !flag.Hidden {
			names = append(names, "--"+flag.Name)
		}
	}
	return names
}

var (
	serviceLink     = regexp.MustCompile(`^KEYHEALTH_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	serviceLinkPort = regexp.MustCompile(`^KEYHEALTH_(.+_)?PORT$`)
	serviceLinkURL  = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// isServiceLink is true for what Kubernetes sets in every pod for each service
// of the namespace: a service called keyhealth, or keyhealth-redis, is common.
func isServiceLink(name, value string) bool {
	return serviceLink.MatchString(name) || serviceLinkPort.MatchString(name) && serviceLinkURL.MatchString(value)
}

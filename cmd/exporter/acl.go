// keyhealth acl: the smallest ACL rule that the configured features can do with.
// What happens where one of its permissions is missing is docs/permissions.md.

package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
)

const aclCommand = "acl"

// serverVersion is the version that a rule is for.
type serverVersion struct{ major, minor int }

// oldestServer is the first version with users.
var oldestServer = serverVersion{6, 0}

func parseServerVersion(text string) (serverVersion, error) {
	majorText, rest, _ := strings.Cut(text, ".")
	minorText, _, _ := strings.Cut(rest, ".")
	major, err := strconv.ParseUint(majorText, 10, 16)
	if err != nil {
		return serverVersion{}, err
	}
	minor := uint64(0)
	if rest != "" {
		if minor, err = strconv.ParseUint(minorText, 10, 16); err != nil {
			return serverVersion{}, err
		}
	}
	return serverVersion{int(major), int(minor)}, nil
}

func (v serverVersion) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

func (v serverVersion) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// need is a permission and its reason.
type need struct{ rule, why string }

// uses is what of a target decides about permissions.
type uses struct{ limits, bigKeys, cluster, mayBeCluster, databases, memory, types, selfTest bool }

func usesOf(target spec.Target) uses {
	limits := slices.ContainsFunc(target.Rules, func(r classify.Rule) bool { return r.Limit > 0 })
	typed := slices.ContainsFunc(target.Presets, func(p classify.Preset) bool { return p.Type != "" })
	big := target.Sweep.BigKeys.Budget > 0
	others := target.Databases == nil || slices.ContainsFunc(target.Databases, func(number int) bool { return number != 0 })
	auto := target.Cluster == spec.ClusterAuto && target.Sentinel == nil && target.Endpoint.Network != "unix"
	cluster := target.Cluster == spec.ClusterAlways || auto && len(target.Seeds) > 0
	return uses{
		limits: limits, bigKeys: big, types: limits || big || typed,
		memory:  limits || big || target.Sweep.MemorySamples > 0,
		cluster: cluster, mayBeCluster: auto && !cluster,
		databases: others && !cluster,
		selfTest:  target.SelfTest > 0,
	}
}

// clusterNeeds are what nodes of a Cluster are asked beside the rest.
func clusterNeeds(replicas, selfTest bool) []need {
	needs := []need{
		{"+cluster|nodes", "which nodes there are, and which slots they have"},
		{"+cluster|countkeysinslot", "the keys of each slot, so that a sample misses none"},
		{"+asking", "the TTLs of keys in a slot that is half moved to another node"},
	}
	if selfTest {
		needs = append(needs, need{"+cluster|slots", "the self-test of the limiter asks where its keys belong"})
	}
	if replicas {
		needs = append(needs, need{"+readonly", "to sweep a replica in the place of its primary"})
	}
	return needs
}

// serverNeeds are the permissions on the servers that hold the keys.
func serverNeeds(target spec.Target, version serverVersion) []need {
	u := usesOf(target)
	needs := []need{
		{"+ping", "the round trip's time, which does not count as Redis' work"},
		{"+client|setname", "names the connection keyhealth in CLIENT LIST"},
	}
	add := func(when bool, rule, why string) {
		if when {
			needs = append(needs, need{rule, why})
		}
	}
	add(u.databases, "+select", "other databases than 0")
	add(true, "+info", "keys with and without TTL of each database, memory, errors")
	add(true, "+time", "the server's clock, by which a leak is judged")
	add(true, "+scan", "the names of the keys")
	add(true, "+pttl", "the TTL of each of them")
	add(u.memory, "+memory|usage", "the size of a few keys")
	add(u.types, "+type", "the kind of a few keys: what their size or state is")
	add(u.bigKeys, "+hlen", "elements of large hashes")
	add(u.bigKeys || u.limits, "+llen", "elements of large lists, and the state of limiters kept in lists")
	add(u.bigKeys, "+scard", "elements of large sets")
	add(u.bigKeys || u.limits, "+zcard", "elements of large sorted sets, and the state of limiters kept in them")
	add(u.bigKeys, "+xlen", "elements of large streams")
	add(u.limits, "+get", "the counts of zombies in groups with a limit: who is locked out")
	add((u.limits || u.bigKeys) && version.atLeast(7, 2), "+client|no-touch", "keeps reading from making a key look used")
	if u.cluster {
		needs = append(needs, clusterNeeds(target.Replicas, u.selfTest)...)
	}
	return needs
}

// sentinelNeeds are the permissions on the Sentinels themselves.
func sentinelNeeds() []need {
	return []need{
		{"+client|setname", "names the connection keyhealth in CLIENT LIST"},
		{"+sentinel|get-master-addr-by-name", "where the primary is"},
		{"+sentinel|replicas", "where its replicas are"},
	}
}

// aclLine is the command that makes the user.
func aclLine(version serverVersion, keys string, needs []need) string {
	words := []string{"ACL SETUSER keyhealth on >PASSWORD"}
	if version.atLeast(6, 2) {
		words = append(words, "resetchannels")
	}
	words = append(words, "-@all")
	if keys != "" {
		words = append(words, keys)
	}
	for _, n := range needs {
		words = append(words, n.rule)
	}
	return strings.Join(words, " ")
}

// aclLines are the rules for a target: on its servers, and on its Sentinels.
func aclLines(target spec.Target, version serverVersion) []string {
	lines := []string{aclLine(version, "~*", serverNeeds(target, version))}
	if target.SelfTest > 0 && hasSelectors(version) {
		lines[0] = withSelfTest(lines[0])
	}
	if target.Sentinel != nil && version.atLeast(6, 2) {
		lines = append(lines, aclLine(version, "", sentinelNeeds()))
	}
	return lines
}

// aclFor says which targets the rules above it are for.
func aclFor(target spec.Target, version serverVersion, names []string) string {
	of := fmt.Sprintf("%s, on servers of version %s", plain(strings.Join(names, ", ")), version)
	switch {
	case target.Sentinel == nil:
		return "# ^ The rule above is for " + of + "."
	case version.atLeast(6, 2):
		return "# ^ The two rules above are for " + of + ", and for its Sentinels."
	}
	return "# ^ The rule above is for " + of + ". Its Sentinels have no users before 6.2."
}

// aclReasons says why each permission of the targets is needed, once.
func aclReasons(targets []spec.Target, version serverVersion) string {
	needs := []need{}
	if version.atLeast(6, 2) {
		needs = append(needs, need{"resetchannels", "no Pub/Sub"})
	}
	keys := need{"~*", "SCAN tells every name whatever the patterns are; this permits to ask for its TTL"}
	if version.atLeast(7, 0) {
		keys.why += ". %R~* does too, for reading only"
	}
	needs = append(needs, need{"-@all", "no command but these"}, keys)
	mayBeCluster, selfTest := false, false
	for _, target := range targets {
		needs = append(needs, serverNeeds(target, version)...)
		if target.Sentinel != nil && version.atLeast(6, 2) {
			needs = append(needs, sentinelNeeds()...)
		}
		u := usesOf(target)
		mayBeCluster, selfTest = mayBeCluster || u.mayBeCluster, selfTest || u.selfTest
	}
	var text strings.Builder
	told := map[string]bool{}
	tell := func(needs []need) {
		for _, n := range needs {
			if !told[n.rule] {
				text.WriteString(aclComment(n))
			}
			told[n.rule] = true
		}
	}
	fmt.Fprintln(&text, "# PASSWORD is yours to choose; in a shell, quote what holds > ~ * ( ) or |.")
	tell(needs)
	if selfTest {
		text.WriteString(selfTestComment(version))
		if told = map[string]bool{}; hasSelectors(version) {
			tell(selfTestNeeds())
		}
	}
	if mayBeCluster {
		told = map[string]bool{}
		fmt.Fprintln(&text, "# Where the address is that of a node of a Cluster, add on each node:")
		tell(clusterNeeds(true, selfTest))
	}
	return text.String()
}

// aclComment is a permission and its reason, on as many lines as fit a terminal.
func aclComment(n need) string {
	const column = 39 // of the reasons
	why := strings.TrimSpace(strings.ReplaceAll(wrapped(n.why, column), "\n ", "\n#"))
	return fmt.Sprintf("#   %-33s  %s\n", n.rule, why)
}

// printACL prints the rules of all targets, each once, and the reasons below.
func printACL(stdout, stderr io.Writer, cfg *config, versionText string) int {
	version, err := parseServerVersion(versionText)
	if err != nil || !version.atLeast(oldestServer.major, oldestServer.minor) {
		report(stderr, problem{subject: "--server-version", value: versionText, rule: "must be a version from 6.0 on, older servers have no users", example: "7.2"})
		return exitUsage
	}
	targets := cfg.targets()
	names := map[string][]string{} // of the targets with the same rules
	for _, target := range targets {
		rules := strings.Join(aclLines(target, version), "\n")
		names[rules] = append(names[rules], target.Name)
	}
	for _, target := range targets {
		rules := strings.Join(aclLines(target, version), "\n")
		if names[rules][0] == target.Name {
			fmt.Fprintf(stdout, "%s\n%s\n", rules, aclFor(target, version, names[rules]))
		}
	}
	fmt.Fprint(stdout, aclReasons(targets, version))
	return exitFine
}

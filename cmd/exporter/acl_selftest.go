// What the self-test of the limiter needs beside the rest: writing, and that under
// its own prefix only, in a selector of the user.

package main

import (
	"strings"

	"keyhealth/limiter/selftest"
)

const selfTestKeys = "~" + selftest.DefaultPrefix + ":*"

func selfTestNeeds() []need {
	return []need{
		{selfTestKeys, "no other key is written"},
		{"+set", "takes the lease, plants what must be healed, and is what the limiter writes"},
		{"+get", "the limiter's counts, and what was planted"},
		{"+incrby", "the limiter counts"},
		{"+decrby", "and takes back what a reservation did not use"},
		{"+del", "the limiter heals, and the self-test cleans up"},
		{"+pttl", "the limiter and the self-test look at the TTL"},
		{"+exists", "to see that nothing is left"},
		{"+eval", "the limiter's scripts"},
		{"+evalsha", "the same, once the server has them"},
	}
}

// hasSelectors says whether a user can have other commands on some keys.
func hasSelectors(version serverVersion) bool { return version.atLeast(7, 0) }

// withSelfTest adds the selector to a rule.
func withSelfTest(rule string) string {
	words := []string{}
	for _, n := range selfTestNeeds() {
		words = append(words, n.rule)
	}
	rule = strings.Replace(rule, " resetchannels ", " resetchannels clearselectors ", 1)
	return rule + " (" + strings.Join(words, " ") + ")"
}

// selfTestComment begins the reasons.
func selfTestComment(version serverVersion, cluster bool) string {
	if hasSelectors(version) {
		return "# In brackets, for the self-test of the limiter (" + nameSelfTest + ", and the command " + selfTestCommand + "):\n"
	}
	needs := append(selfTestNeeds(), need{rule: "+info"}, need{rule: "+time"}, need{rule: "+ping"}, need{rule: "+client|setname"})
	if cluster {
		needs = append(needs, need{rule: "+cluster|nodes"}, need{rule: "+cluster|slots"})
	}
	return "# " + nameSelfTest + " needs Redis 7.0: before that, a user who may write under one prefix only may read there\n" +
		"# only too. Leave it off, and run keyhealth selftest as a user of its own:\n# " +
		strings.Replace(aclLine(serverVersion{6, 0}, "", needs), " keyhealth ", " keyhealth-selftest ", 1) + "\n"
}

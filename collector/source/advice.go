// What to do about a failed sweep: the last words of its log line. The reasons and
// their errors are failure.go.

package source

import "errors"

// Advice is what to do about an error.
func Advice(err error) string {
	if failure := (*Failure)(nil); errors.As(err, &failure) && failure.Hint != "" {
		return failure.Hint
	}
	return AdviceOn(ReasonOf(err))
}

// AdviceOn is what to do about a reason.
func AdviceOn(reason string) string { return advice[reason] }

// advice says what to do about a failure, where nothing better is known of it.
var advice = map[string]string{
	ReasonUnreachable:  "is the server up, the address right, and does the port want rediss://? In a container 127.0.0.1 is the container itself",
	ReasonTimeout:      "the server or the network is slow, or the sweep has more to do than its timeout allows",
	ReasonTLS:          "check the CA file, the server name, and whether the port speaks TLS: without it the URL begins with redis://",
	ReasonAuth:         "check the user and the password; where none is set, give a password file: KEYHEALTH_REDIS_PASSWORD_FILE, or password_file of the target",
	ReasonNoPermission: "the ACL user lacks a permission: keyhealth acl prints the rule, docs/permissions.md says why",
	ReasonLoading:      "the server is loading its data; the next sweep tries again",
	ReasonBusy:         "a script blocks the server: SCRIPT KILL ends one that has written nothing; the next sweep tries again",
	ReasonMasterDown:   "the replica has lost its master; the next sweep tries again",
	ReasonCluster:      "the Cluster is down or does not serve all slots; the next sweep asks its nodes again",
	ReasonRefused:      "what answers there is no Redis server, or one that lacks what a sweep needs: see docs/permissions.md",
	ReasonOther:        "what answers there may be no Redis server",
	ReasonMaxClients:   "raise maxclients, or find in CLIENT LIST who holds the connections",
}

// What to do where the advice of the reason would mislead. A target comes from the
// environment or from the file: what is wrong is named as either has it.
const (
	HintTooLong    = "find out why the server is slow, or raise the timeout: KEYHEALTH_SWEEP_TIMEOUT, or sweep.timeout of the target"
	hintProtected  = "the server is in protected mode and takes connections from its own machine only: give it a password, or set protected-mode no"
	hintNoDatabase = "correct the database in the URL, or the databases to sweep (KEYHEALTH_DATABASES, or databases of the target): the server has fewer"
	hintNoCluster  = "leave KEYHEALTH_REDIS_CLUSTER, or cluster of the target, at auto; or give the address of a node of the Cluster"
	HintDatabase0  = "take the database out of the URL, or set KEYHEALTH_DATABASES, or databases of the target, to 0"
	HintSeeds      = "give one address in the URL, and each server of its own as a target in KEYHEALTH_CONFIG_FILE"
	HintSentinel   = "write redis+sentinel://HOST:PORT/NAME, with the name of the set"
	hintNoSentinel = "give the address of a Sentinel, mostly at port 26379, or redis:// for a server"
	hintLost       = "its slots and keys are gone with it unless it comes back: redis-cli --cluster check tells more"
	hintSlotsMoved = "the next sweep tries again; if this lasts, redis-cli --cluster check finds slots that are half moved"
	hintNoSet      = "correct the name at the end of the URL: SENTINEL MASTERS lists the sets that there are"
)

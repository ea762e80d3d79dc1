// keyhealth selftest: the limiter's self-test on the targets, once.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"github.com/redis/go-redis/v9"

	"keyhealth/collector/source"
)

const (
	selfTestCommand = "selftest"

	exitFailed      = 1   // a check failed
	exitUnreachable = 3   // Redis cannot be reached, or refuses us
	exitInterrupted = 130 // by a signal; what was written is removed, or ends with its TTL where Redis hangs
)

func addSelfTest(app *kingpin.Application, line *commandLine) {
	app.Command(selfTestCommand, "Run the self-test of the limiter on Redis, and report each check; [URL] stands for "+nameRedisURL+
		". Writes a few keys that begin with keyhealth-selftest, and removes them.").
		Arg("url", "Where Redis is.").StringVar(&line.flags.redisURL)
}

// selfTest runs it on each target. The exit code is that of the worst.
func selfTest(ctx context.Context, cfg *config, stdout, stderr io.Writer) int {
	code := exitFine
	targets := cfg.targets()
	for _, target := range targets {
		if len(targets) > 1 {
			fmt.Fprintf(stdout, "%s:\n", plain(target.Name))
		}
		tested := runSelfTest(ctx, func(ctx context.Context) (redis.UniversalClient, error) {
			return source.NewClient(ctx, target, source.NewCommandCounts())
		})
		code = max(code, tested.print(ctx, stdout, stderr))
		if ctx.Err() != nil {
			break
		}
	}
	return code
}

// oneLine is a check's reason: one of each limiter that failed it.
func oneLine(detail string) string { return tidy(ruleError(strings.ReplaceAll(detail, "\n", "; "))) }

// selfTestAdvice is what to do about an error. The self-test needs more than a
// sweep does, and no next sweep tries it again.
func selfTestAdvice(err error) string {
	if failure := (*source.Failure)(nil); !errors.As(err, &failure) {
		return "" // a reply to a command of its own, such as OOM: Redis says itself what is wrong
	}
	if source.ReasonOf(err) == source.ReasonNoPermission {
		return selfTestPermissions
	}
	hint, _, _ := strings.Cut(source.Advice(err), "; the next sweep")
	return hint
}

// print shows what came of it, and returns the exit code.
func (s selfTested) print(ctx context.Context, stdout, stderr io.Writer) int {
	for _, check := range s.Checks {
		said := "ok"
		if !check.Passed {
			said = "failed: " + oneLine(check.Detail)
		}
		fmt.Fprintf(stdout, "%-11s  %s\n", check.Name, said)
	}
	if s.Warning != "" {
		fmt.Fprintf(stdout, "warning      %s\n", s.Warning)
	}
	fail := func(rule string) {
		report(stderr, problem{subject: selfTestCommand, rule: rule})
	}
	switch {
	case ctx.Err() != nil && s.err != nil:
		fail("interrupted")
		return exitInterrupted
	case s.err != nil:
		reason := strings.TrimPrefix(tidy(s.err), "self-test: ")
		if hint := selfTestAdvice(s.err); hint != "" {
			reason += ": " + hint
		}
		fail(reason)
		return exitUnreachable
	case s.Busy:
		fail("another self-test is running there, nothing was checked: try again in a minute")
		return exitUnreachable
	case !s.Passed():
		return exitFailed
	}
	return exitFine
}

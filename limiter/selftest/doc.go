// Package selftest asks a Redis whether the limiter keeps its promises on it:
//
//	report, err := selftest.Run(ctx, client, selftest.Options{})
//	for _, check := range report.Checks {
//		fmt.Println(check.Name, check.Passed, check.Detail)
//	}
//
// It uses keys of a reserved prefix only, a few dozen and some hundred commands
// a run, and removes them at the end, also when it is cancelled. What a run that
// was killed has left ends by itself, for no key is without TTL between two of its
// commands; and the next run removes it.
package selftest

package collector

// selfTestMetrics are absent where no self-test has been made.
func selfTestMetrics() []metric {
	row := func(name, help string, value func(SelfTest) float64) metric {
		return metric{name: name, help: help, kind: gauge, read: func(s *Snapshot, put put) {
			if s.SelfTest != nil {
				put(value(*s.SelfTest))
			}
		}}
	}
	return []metric{
		{name: "keyhealth_selftest_success", help: "1 if the check of the limiter passed in the last self-test, 0 if it failed or could not be made.", kind: gauge,
			labels: []string{"check"}, read: func(s *Snapshot, put put) {
				if s.SelfTest != nil {
					for _, check := range s.SelfTest.Checks {
						put(number01(check.Passed), check.Name)
					}
				}
			}},
		row("keyhealth_selftest_duration_seconds", "How long the last self-test took, failed or not.",
			func(t SelfTest) float64 { return t.Took.Seconds() }),
		row("keyhealth_selftest_last_run_timestamp_seconds", "Unix time at which the last self-test ended, failed or not; absent where none is made (KEYHEALTH_SELFTEST_INTERVAL).",
			func(t SelfTest) float64 { return float64(t.Ended.UnixMilli()) / 1e3 }),
	}
}

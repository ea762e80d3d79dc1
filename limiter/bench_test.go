package limiter

import (
	"strconv"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

// BenchmarkFixedWindow also tells what a call costs the server: the time it
// spent in EVALSHA, by its own statistics.
func BenchmarkFixedWindow(b *testing.B) {
	c := redistest.Start(b).Client(b)
	for name, limit := range map[string]int64{"allowed": MaxLimit, "refused": 1} {
		b.Run(name, func(b *testing.B) {
			l := mustFixedWindow(b, c, limit, hour)
			if _, err := l.Allow(b.Context(), name); err != nil {
				b.Fatal(err)
			}
			if err := c.ConfigResetStat(b.Context()).Err(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if result, err := l.Allow(b.Context(), name); err != nil || result.Allowed != (name == "allowed") {
					b.Fatalf("%+v, %v", result, err)
				}
			}
			stats, err := c.Info(b.Context(), "commandstats").Result()
			if err != nil {
				b.Fatal(err)
			}
			_, after, _ := strings.Cut(stats, "cmdstat_evalsha:")
			_, after, _ = strings.Cut(after, "usec_per_call=")
			number, _, _ := strings.Cut(after, ",")
			microseconds, err := strconv.ParseFloat(number, 64)
			if err != nil {
				b.Fatalf("no time of EVALSHA in:\n%s", stats)
			}
			b.ReportMetric(microseconds, "server-us/op")
		})
	}
}

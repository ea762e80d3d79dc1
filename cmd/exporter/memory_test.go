package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for name, c := range map[string]struct {
		available memlimit.Provider
		variable  string // GOMEMLIMIT, which the runtime has read already
		want      int64
	}{
		"a container of 128 MiB": {memlimit.Limit(128 << 20), "", (128 << 20) * 8 / 10},
		"no limit":               {none, "", math.MaxInt64},
		"no container":           {func() (uint64, error) { return 0, memlimit.ErrNoCgroup }, "", 1 << 40},
		"GOMEMLIMIT wins":        {memlimit.Limit(128 << 20), "1TiB", 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(1 << 40)
			t.Setenv("GOMEMLIMIT", c.variable)
			if c.variable == "" {
				_ = os.Unsetenv("GOMEMLIMIT")
			}
			limitMemory(slog.New(slog.DiscardHandler), c.available)
			if got := debug.SetMemoryLimit(-1); got != c.want {
				t.Errorf("the limit is %d, want %d", got, c.want)
			}
		})
	}
}

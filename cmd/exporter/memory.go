package main

import (
	"log/slog"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryShare is how much of its container's memory the Go runtime may take: the
// garbage collector works harder before the kernel kills. The rest is for what
// the runtime does not count.
const memoryShare = 0.8

// limitMemory heeds the memory limit of the container, as the runtime itself does
// with its CPU limit. GOMEMLIMIT, where it is set, wins.
func limitMemory(log *slog.Logger, available memlimit.Provider) {
	limit, err := memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(available))
	switch {
	case err != nil:
		log.Debug("The memory limit of the container is not known", "err", err)
	case limit < math.MaxInt64:
		log.Info("The memory of this process is limited", "bytes", limit)
	}
}

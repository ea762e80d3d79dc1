package exportertest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

// mostMemory is what the exporter may take at most, whatever keys are called.
const mostMemory = 64 << 20

// fillShapes makes one key for each number from ARGV[1] to ARGV[2], each of a
// shape of its own: three words, of letters only.
const fillShapes = `
local function word(n)
  local w = ''
  for i = 1, 6 do w = w .. string.char(97 + n % 26); n = math.floor(n / 26) end
  return w
end
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('SET', word(i) .. ':' .. word(i * 7) .. ':' .. word(i * 13) .. ':' .. i, '1', 'EX', 86400)
end`

// TestMemoryOfManyShapes: the names of 100,000 keys have nothing in common.
func TestMemoryOfManyShapes(t *testing.T) {
	server := redistest.Start(t)
	redistest.Fill(t, server, fillShapes, 1, 100_000)
	e := Start(t, Settings{"REDIS_URL": server.URL(), "SWEEP_INTERVAL": "1s", "SWEEP_DUTY": "1", "MAX_GROUPS": "100", "PRESETS": "all"})
	m := e.Sweeps(t, 3)
	if groups := m.Value(t, "keyhealth_groups"); groups > 100 {
		t.Errorf("%v groups", groups)
	}
	if examined := m.Value(t, "keyhealth_sweep_keys_examined"); examined != 100_000 {
		t.Errorf("%v keys were examined", examined)
	}
	peak := e.peakMemory(t)
	t.Logf("VmHWM %.1f MB after 3 sweeps of 100,000 shapes", float64(peak)/(1<<20))
	if peak > mostMemory {
		t.Errorf("the exporter took %.1f MB at most, want below 64", float64(peak)/(1<<20))
	}
}

// peakMemory is the most memory the process ever had, in bytes.
func (e *Exporter) peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(size)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the kernel does not tell VmHWM")
	return 0
}

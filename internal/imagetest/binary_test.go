package imagetest

import (
	"os"
	"testing"
)

// The largest sizes, in bytes. Code that nobody calls is not linked only where
// no template can call it by its name: kingpin and the exporter toolkit have
// templates, so the whole Redis client is in. The image is therefore built to be
// small (Dockerfile).
const (
	maxBinary = 30_000_000 // with keyhealth demo, as make build makes it
	maxImage  = 19_000_000 // 18 before Cluster, Sentinel, presets and the self-test
)

func TestBinarySize(t *testing.T) {
	info, err := os.Stat(buildBinary(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxBinary {
		t.Errorf("%d bytes, want at most %d", info.Size(), maxBinary)
	}
}

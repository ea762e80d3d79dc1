package imagetest

import (
	"os"
	"testing"
)

// The largest sizes, in bytes. Code that nobody calls is not linked only where
// no template can call it by its name: kingpin and the exporter toolkit have
// templates, so the whole Redis client is in.
const (
	maxBinary  = 30_000_000 // with keyhealth demo
	maxRelease = 24_000_000 // without: -tags nodemo, and the image
)

func TestBinarySize(t *testing.T) {
	for tags, most := range map[string]int64{"": maxBinary, "nodemo": maxRelease} {
		info, err := os.Stat(buildBinary(t, tags))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("with tags %q: %d bytes", tags, info.Size())
		if info.Size() > most {
			t.Errorf("with tags %q: %d bytes, want at most %d", tags, info.Size(), most)
		}
	}
}

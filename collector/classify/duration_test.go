package classify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const day = 24 * time.Hour

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
	}{
		{"0", 0},
		{"0s", 0},
		{"0d", 0},
		{"1ns", 1},
		{"90s", 90 * time.Second},
		{"1.5h", 90 * time.Minute},
		{"2d", 2 * day},
		{"1w", 7 * day},
		{"1w2d", 9 * day},
		{"1d12h30m", day + 12*time.Hour + 30*time.Minute},
		{"12h1d", day + 12*time.Hour}, // any order, as Go reads its units
		{".5d", 12 * time.Hour},
		{"0.1d", 2*time.Hour + 24*time.Minute},
		{"0.3d", 7*time.Hour + 12*time.Minute}, // 0.3 x 24 is a little below 7.2 in binary
		{"0.7w", 117*time.Hour + 36*time.Minute},
		{"0.043d", 3715200 * time.Millisecond}, // rounded, not cut off
		{"106751d", 106751 * day},              // the last whole day that fits
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if got, err := ParseDuration(test.text); err != nil || got != test.want {
				t.Errorf("%v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "10", "d", "w", ".d", "-1s", "-1d", "1d-1h", "1 d", " 1d", "1d ", "1D", "1y", "1e3d", "0x1d", "1.5.2d", "1.1.5d", "1..5d", "1..d",
		"106752d", "1000000w", strings.Repeat("9", 400) + "d", "NaNd", "Infd", "1d\n", "1\u0664d",
	} {
		got, err := ParseDuration(text)
		if err == nil || got != 0 {
			t.Errorf("%.20q: %v, %v", text, got, err)
		}
	}
}

func TestDurationString(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"},
		{1, "1ns"},
		{1500 * time.Millisecond, "1.5s"},
		{10 * time.Second, "10s"},
		{time.Minute, "1m"},
		{10 * time.Minute, "10m"},
		{61 * time.Second, "1m1s"},
		{time.Hour, "1h"},
		{90 * time.Minute, "1h30m"},
		{time.Hour + 5*time.Second, "1h0m5s"},
		{100 * time.Hour, "100h"},
		{day, "1d"},
		{14 * day, "14d"},
		{day + time.Second, "24h0m1s"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			text, err := Duration(test.d).MarshalText()
			if err != nil || string(text) != test.want {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

// What is shown can be written into a file and means the same.
func TestDurationRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	durations := []time.Duration{0, 1, math.MaxInt64, math.MaxInt64 - 1, 106751 * day}
	for _, unit := range []time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour, day} {
		for range 1000 {
			durations = append(durations, time.Duration(rng.Int64N(math.MaxInt64/int64(unit)>>rng.IntN(17)))*unit)
		}
	}
	for _, d := range durations {
		var back Duration
		if err := back.UnmarshalText([]byte(Duration(d).String())); err != nil || time.Duration(back) != d {
			t.Fatalf("%d is shown as %s and read as %d, %v", d, Duration(d), back, err)
		}
	}
}

func TestDurationInYAML(t *testing.T) {
	var read struct{ A, B, C Duration }
	if err := yaml.Unmarshal([]byte("a: 1w\nb: \"90s\"\nc:\n"), &read); err != nil {
		t.Fatal(err)
	}
	if read.A != Duration(7*day) || read.B != Duration(90*time.Second) || read.C != 0 {
		t.Errorf("%+v", read)
	}
	kept := Duration(time.Second)
	for _, text := range []string{"60", "-1s", "[1s]", "{a: 1s}", "true"} {
		if err := yaml.Unmarshal([]byte(text), &kept); err == nil || kept != Duration(time.Second) {
			t.Errorf("%s: %v, %v", text, kept, err)
		}
	}
}

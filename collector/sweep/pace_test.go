package sweep

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"keyhealth/collector/source"
)

func TestPacerRest(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name        string
		duty        float64
		ping, batch time.Duration
		trips       int
		want        time.Duration
	}{
		{"a tenth", 0.1, 0, 2 * ms, 2, 18 * ms},
		{"half", 0.5, 0, 2 * ms, 2, 2 * ms},
		{"always", 1, ms, 20 * ms, 1, 0},
		{"the network's time is not Redis'", 0.1, 10 * ms, 24 * ms, 2, 4 * ms * 9 * 24 / 20}, // a fifth of 24
		{"one round trip", 0.1, 10 * ms, 24 * ms, 1, 14 * ms * 9},
		{"a fifth at least", 0.5, 10 * ms, 20 * ms, 2, 4 * ms},
		{"a PING slower than the batch", 0.5, 100 * ms, 20 * ms, 2, 4 * ms},
		{"nothing done", 0.1, ms, 0, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pacer{duty: test.duty, ping: test.ping}
			got := p.rest(test.batch, test.trips)
			if off := got - test.want; off < -time.Microsecond || off > time.Microsecond {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// pingConn answers PINGs in the given times, then with an error.
type pingConn struct {
	source.Conn
	times []time.Duration
}

var errPing = errors.New("no more answers")

func (c *pingConn) Ping(context.Context) (time.Duration, error) {
	if len(c.times) == 0 {
		return 0, errPing
	}
	took := c.times[0]
	c.times = c.times[1:]
	return took, nil
}

func TestPacerMeasure(t *testing.T) {
	tests := []struct {
		name  string
		times []time.Duration
		want  time.Duration
		err   error
	}{
		{"the first is the smallest", []time.Duration{1, 2, 3}, 1, nil},
		{"the second", []time.Duration{2, 1, 3}, 1, nil},
		{"the last", []time.Duration{3, 2, 1}, 1, nil},
		{"no more than three", []time.Duration{3, 3, 3, 1}, 3, nil},
		{"a failure", []time.Duration{3, 2}, 2, errPing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var p pacer // 0 is no measurement: the first PING counts, whatever it took
			if err := p.measure(t.Context(), &pingConn{times: test.times}); !errors.Is(err, test.err) || p.ping != test.want {
				t.Errorf("%v, %v", p.ping, err)
			}
		})
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, test := range []struct {
			d, took time.Duration
			want    error
		}{
			{0, 0, nil},
			{-time.Hour, 0, nil},
			{time.Second, time.Second, nil},
			{time.Hour, 59 * time.Second, context.DeadlineExceeded}, // a second has passed above
			{time.Second, 0, context.DeadlineExceeded},
			{0, 0, context.DeadlineExceeded},
			{-1, 0, context.DeadlineExceeded},
		} {
			start := time.Now()
			if err := sleep(ctx, test.d); !errors.Is(err, test.want) || time.Since(start) != test.took {
				t.Errorf("sleep(%v): %v after %v", test.d, err, time.Since(start))
			}
		}
	})
}

// TestPacerSlows: batches far above the usual make rests longer, up to eight
// times, until they are as they were; noise below a millisecond does not.
func TestPacerSlows(t *testing.T) {
	const ms = time.Millisecond
	p := pacer{duty: 0.5}
	rest := func(batch time.Duration) time.Duration { return p.rest(batch, 1) / batch }
	for range 30 {
		if got := rest(2 * ms); got != 1 {
			t.Fatalf("a usual batch rests %d times its time", got)
		}
	}
	for i, want := range []time.Duration{1, 1, 2, 4, 8, 8, 8} { // 10 ms is five times the usual
		if got := rest([]time.Duration{10 * ms, 10 * ms, 11 * ms, 30 * ms, 30 * ms, 30 * ms, 30 * ms}[i]); got != want {
			t.Errorf("batch %d rests %d times its time, want %d", i, got, want)
		}
	}
	if p.slow != 5 {
		t.Errorf("%d slow batches", p.slow)
	}
	for _, want := range []time.Duration{4, 2, 1, 1} {
		if got := rest(2 * ms); got != want {
			t.Errorf("a usual batch after slow ones rests %d times its time, want %d", got, want)
		}
	}
	p = pacer{duty: 0.5}
	for range 30 {
		p.rest(100*time.Microsecond, 1)
	}
	if p.rest(ms, 1) != ms {
		t.Error("noise slows the sweep")
	}
}

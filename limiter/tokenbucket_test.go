package limiter

import (
	"testing"
	"time"
)

// TestTokenBucketIsExact: a rate that is no whole number of microseconds a call
// loses none, however often it is asked.
func TestTokenBucketIsExact(t *testing.T) {
	w := miniWorld(t)
	l := mustNew(t, w.client, TokenBucket{Capacity: 7, Refill: 7, Every: 3 * time.Second})
	allowed := 0
	for range 3000 { // 300 s, in which 700 come back
		for {
			got, err := l.Allow(t.Context(), "alice")
			if err != nil || got.Degraded {
				t.Fatalf("%+v, %v", got, err)
			}
			if !got.Allowed {
				break
			}
			allowed++
		}
		if err := w.step(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if allowed != 7+699 { // the last comes back at the end
		t.Errorf("%d calls were allowed, want the 7 of the bucket and 699", allowed)
	}
}

func TestTokenBucketRetryAfter(t *testing.T) {
	retryAfter(t, TokenBucket{Capacity: 10, Refill: 3, Every: time.Second})
}

// TestTokenBucketKey: a full bucket has no key, and the TTL is the time until it
// is full.
func TestTokenBucketKey(t *testing.T) {
	w := miniWorld(t)
	l := mustNew(t, w.client, TokenBucket{Capacity: 100, Refill: 10, Every: time.Second})
	key := mustKey(t, l, "alice")
	if key != "keyhealth:{alice}:bucket:100+10/1s" {
		t.Errorf("the key is %s", key)
	}
	got, err := l.AllowN(t.Context(), "alice", 25)
	if want := (Result{Allowed: true, Limit: 100, Remaining: 75, ResetAfter: 2500 * time.Millisecond}); got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if ttl := w.client.PTTL(t.Context(), key).Val(); ttl != 2500*time.Millisecond {
		t.Errorf("the TTL is %v", ttl)
	}
	if err := w.step(2500 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if n := w.client.Exists(t.Context(), key).Val(); n != 0 {
		t.Error("a full bucket has a key")
	}
}

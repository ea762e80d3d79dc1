package limiter

import (
	"slices"
	"strings"
	"testing"

	"keyhealth/limiter/internal/limitertest"
)

// TestFixedWindowPeek: it answers as Allow would, and writes nothing.
func TestFixedWindowPeek(t *testing.T) {
	px := hour.Milliseconds()
	tests := []struct {
		name  string
		plant []any
		want  Result
	}{
		{"no key", nil, Result{Allowed: true, Limit: 5, Remaining: 5}},
		{"some left", []any{"SET", 3, "PX", px}, Result{Allowed: true, Limit: 5, Remaining: 2, ResetAfter: hour}},
		{"one left", []any{"SET", 4, "PX", px}, Result{Allowed: true, Limit: 5, Remaining: 1, ResetAfter: hour}},
		{"none left", []any{"SET", 5, "PX", px}, Result{Limit: 5, RetryAfter: hour, ResetAfter: hour}},
		{"zombie", []any{"SET", 9}, Result{Allowed: true, Limit: 5, Remaining: 5}},
		{"negative", []any{"SET", -9, "PX", px}, Result{Allowed: true, Limit: 5, Remaining: 5}},
		{"long TTL", []any{"SET", 9, "PX", 2 * px}, Result{Allowed: true, Limit: 5, Remaining: 5}},
	}
	onServers(t, func(t *testing.T, s *limitertest.Server) {
		l := mustFixedWindow(t, s.Client, 5, hour)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				key := mustKey(t, l, tt.name)
				if tt.plant != nil {
					run(t, s, slices.Insert(slices.Clone(tt.plant), 1, any(key))...)
				}
				before, changed := s.Look(t, key), changes(t, s)
				got, err := l.Peek(t.Context(), tt.name)
				if got := hours(got); got != tt.want || err != nil {
					t.Errorf("Peek is %+v, %v, want %+v", got, err, tt.want)
				}
				after := s.Look(t, key)
				if !after.Unchanged(before) || changes(t, s) != changed {
					t.Errorf("the key is %+v, was %+v; %s changes, were %s", after, before, changes(t, s), changed)
				}
			})
		}
	})
}

// changes is how many writes a real server has seen; miniredis does not count
// them.
func changes(t *testing.T, s *limitertest.Server) string {
	t.Helper()
	info, err := s.Client.Info(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(info, "rdb_changes_since_last_save:")
	if real := s.FastForward == nil; found != real {
		t.Fatalf("INFO has a count of changes: %v, on a real server: %v", found, real)
	}
	count, _, _ := strings.Cut(after, "\r\n")
	return count
}

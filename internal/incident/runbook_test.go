package incident

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"keyhealth/internal/redistest"
)

// byHand is the shell function that the runbooks heal with.
func byHand(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/runbooks/by-hand.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```sh\n")
	function, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("by-hand.md has no block of shell")
	}
	return function
}

// TestByHand heals a full Redis as the runbooks say, with names that shells break on.
func TestByHand(t *testing.T) {
	sh := redistest.Require(t, "sh")
	redistest.Require(t, "redis-cli")
	function := byHand(t)
	redis := startServer(t, map[string]string{"maxmemory": "100mb", "maxmemory-policy": "noeviction"})
	zombies := func(arguments string) string {
		t.Helper()
		script := fmt.Sprintf("%s\nREDIS='redis-cli -p %d'\nzombies %s", function, redis.Port(), arguments)
		output, _ := exec.CommandContext(t.Context(), sh, "-c", script).CombinedOutput() // what it prints says whether it failed
		return strings.TrimSpace(string(output))
	}
	redis.change(t, Step{Run: []Command{
		{Repeat: 300, Run: Words{"INCR", "rl:{i}"}},
		{Run: Words{"SET", "rl:a b\nc 'd", "1"}},
		{Run: Words{"SET", "rl:healthy", "1", "EX", "1000"}},
		{Run: Words{"SET", "flags:a", "1"}},
		{Run: Words{"CONFIG", "SET", "maxmemory", "1"}}, // full from here on
		{Run: Words{"SET", "rl:refused", "1"}, MayFail: true},
	}})
	for _, step := range []struct{ arguments, want string }{
		{"count 'rl:*'", "count rl:*: 301 keys without TTL"},
		{"expire 'rl:*' 0", "zombies expire PATTERN SECONDS, at least 1"},
		{"expire 'rl:*'", "zombies expire PATTERN SECONDS, at least 1"},
		{"count '*'", "count *: 302 keys without TTL"},
		{"expire 'rl:*' 60", "expire rl:*: 301 keys without TTL"},
		{"count '*'", "count *: 1 keys without TTL"},
		{"unlink 'flags:*'", "unlink flags:*: 1 keys without TTL"},
		{"count '*'", "count *: 0 keys without TTL"},
	} {
		if got := zombies(step.arguments); got != step.want {
			t.Errorf("zombies %s: %q, want %q", step.arguments, got, step.want)
		}
	}
	conn := redis.connect(t)
	if left := conn.TTL(t.Context(), "rl:healthy").Val(); left < 900*time.Second {
		t.Errorf("a healthy key has %v left", left)
	}
	if left := conn.TTL(t.Context(), "rl:a b\nc 'd").Val(); left <= 0 || left > time.Minute {
		t.Errorf("a zombie has %v left", left)
	}
	redis.Kill()
	if got := zombies("count '*'"); !strings.Contains(got, "stopped:") {
		t.Errorf("without a server: %q", got)
	}
}

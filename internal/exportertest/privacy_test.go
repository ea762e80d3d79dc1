package exportertest

import (
	"fmt"
	"strings"
	"testing"

	"keyhealth/internal/redistest"
)

// TestNothingPersonalIsShown has a hundred names of people, addresses, tokens
// and hostile bytes among keys that are shown by their shape; not one of their
// parts may reach a label or a log.
func TestNothingPersonalIsShown(t *testing.T) {
	server := redistest.Start(t)
	client := server.Client(t)
	pipe := client.Pipeline()
	for i := range 40 {
		pipe.Set(t.Context(), fmt.Sprintf("session:%d", i), 1, 0)
		pipe.Set(t.Context(), fmt.Sprintf("cart_%d", i), 1, 0)
	}
	var personal []string
	add := func(format, person string) {
		personal = append(personal, person)
		pipe.Set(t.Context(), fmt.Sprintf(format, person), 1, 0)
	}
	for i, first := range []string{"Johanna", "Mustafa", "Wanjiru", "Xiaoming", "Guadalupe", "Siobhan", "Ragnhild", "Thandiwe", "Anastasiya", "Bartholomew"} {
		add("session:%s", first)
		add("%s:session", first+"Smith")
		add("user:%s:cart", first+"_Jones")
		add("mail|%s@example.com", first+".Brown")
		add("rl:{%s}:minute", first+"-Green")
		add("profile/%s/photo", first+"White")
		add("ip:%s", fmt.Sprintf("203.0.113.%d", 100+i))
		add("limit-%s:login", fmt.Sprintf("2001:db8::%d:beef", 1000+i))
		add("%s", fmt.Sprintf("tok_live_%s%d", first, 98765430+i))
		add("\xff\n%s\"}", first+"Black")
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	exporter := Start(t, Settings{"REDIS_URL": server.URL(), "SWEEP_DUTY": "1"})
	metrics := exporter.Sweeps(t, 1)
	if metrics.Value(t, "keyhealth_group_keys", "group=session:*") != 50 || metrics.Value(t, "keyhealth_group_keys", "group=cart_*") != 40 {
		t.Error("the shapes are not shown")
	}
	_, body, err := exporter.Get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for _, person := range personal {
		if strings.Contains(string(body)+exporter.Output(), person) {
			t.Errorf("%q shows", person)
		}
		for _, part := range strings.FieldsFunc(person, func(r rune) bool { return strings.ContainsRune("_-.@", r) }) {
			if len(part) > 4 && strings.Contains(string(body)+exporter.Output(), part) {
				t.Errorf("%q shows", part)
			}
		}
	}
	if len(personal) != 100 {
		t.Errorf("%d names", len(personal))
	}
}

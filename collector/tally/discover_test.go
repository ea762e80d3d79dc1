package tally

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"keyhealth/collector/classify"
)

// discoverAll counts names in a fresh tree and settles it.
func discoverAll(shown map[string]bool, names ...string) (*Tree, map[string]bool) {
	tree := NewTree(classify.NewShaper(classify.DefaultDiscovery()), shown)
	for _, name := range names {
		tree.at(name).group.With++
	}
	return tree, tree.Settle()
}

// numbered makes n names of a format with a number.
func numbered(n int, format string) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(format, i)
	}
	return names
}

func counts(tree *Tree) map[string]int64 {
	found := map[string]int64{}
	for name, t := range tree.Groups() {
		found[name] = t.Examined()
	}
	return found
}

func TestDiscoverGroups(t *testing.T) {
	users := make([]string, 0, 2000)
	for i := range 100 { // a hundred names with 20 keys each: the segment varies
		users = append(users, numbered(20, "user:"+strings.Repeat(string(rune('a'+i%26)), 1+i/26)+"name:%d")...)
	}
	for name, test := range map[string]struct {
		names []string
		want  map[string]int64
	}{
		"a word needs twenty keys": {
			slices.Concat(numbered(20, "session:%d"), numbered(19, "secret:%d")),
			map[string]int64{"session:*": 20, "*:*": 19},
		},
		"the second word too": {
			slices.Concat(numbered(20, "app:session:%d"), numbered(19, "app:alice:%d")),
			map[string]int64{"app:session:*": 20, "app:*:*": 19},
		},
		"a word before an id": {
			numbered(30, "TOTAL_%d"), map[string]int64{"TOTAL_*": 30},
		},
		"no word at all": {
			append(numbered(5, "k%d"), "a", "b"), map[string]int64{"*": 7},
		},
		"many words below a word are ids": {users, map[string]int64{"user:*:*": 2000}},
		"many rare first words leave the common one": {
			slices.Concat(numbered(20000, "session:%d"), numbered(3000, "%[1]dx:%[1]d"), rareWords(30_000)),
			map[string]int64{"session:*": 20000, "*:*": 33_000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(test.names), func(i, j int) { test.names[i], test.names[j] = test.names[j], test.names[i] })
			tree, _ := discoverAll(nil, test.names...)
			if got := counts(tree); !maps.Equal(got, test.want) {
				t.Errorf("groups %v, want %v", got, test.want)
			}
			for _, key := range test.names {
				if found, _ := tree.Find(key); found == nil {
					t.Fatalf("%q is in no group", key)
				}
			}
		})
	}
}

// rareWords are n names under n different words.
func rareWords(n int) []string {
	names := make([]string, n)
	for i := range names {
		word := ""
		for rest := i + 1; rest > 0; rest /= 26 {
			word += string(rune('a' + rest%26))
		}
		names[i] = "w" + word + ":1"
	}
	return names
}

// TestDiscoverIsBounded fills the tree far beyond its size.
func TestDiscoverIsBounded(t *testing.T) {
	tree := NewTree(classify.NewShaper(classify.DefaultDiscovery()), nil)
	for i, name := range rareWords(100_000) {
		tree.at(name).group.With++
		if tree.size > maxSegments+4 {
			t.Fatalf("%d segments after %d names", tree.size, i)
		}
	}
	tree.Settle()
	var keys int64
	for _, n := range counts(tree) {
		keys += n
	}
	if keys != 100_000 {
		t.Errorf("%d keys are left of 100,000", keys)
	}
}

// TestDiscoverIsStable: a group at the border stays once it was shown, and one
// that was not shown does not come by chance.
func TestDiscoverIsStable(t *testing.T) {
	_, shown := discoverAll(nil, numbered(20, "session:%d")...)
	for _, n := range []int{10, 15, 25, 10} {
		var tree *Tree
		tree, shown = discoverAll(shown, numbered(n, "session:%d")...)
		if counts(tree)["session:*"] != int64(n) {
			t.Fatalf("with %d keys the groups are %v", n, counts(tree))
		}
	}
	tree, shown := discoverAll(shown, numbered(9, "session:%d")...)
	if counts(tree)["*:*"] != 9 || shown["session:"] {
		t.Errorf("with 9 keys the groups are %v", counts(tree))
	}
}

func TestDiscoverAllow(t *testing.T) {
	d := classify.DefaultDiscovery()
	d.Allow = []string{"tenant9000"}
	tree := NewTree(classify.NewShaper(d), nil)
	tree.at("tenant9000:x").group.With++
	tree.at("tenant9001:x").group.With++
	tree.Settle()
	if got := counts(tree); got["tenant9000:*"] != 1 || got["*:*"] != 1 {
		t.Errorf("groups %v", got)
	}
}

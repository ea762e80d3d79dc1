package source

import (
	"slices"
	"testing"
)

func TestOwnSlots(t *testing.T) {
	const others = "aaa 10.0.0.2:6379@16379,host-2 master - 0 1 2 connected 10-16383\n" +
		"bbb 10.0.0.3:6379@16379 slave aaa 0 1 2 connected\n"
	for name, test := range map[string]struct {
		nodes string
		want  []int
	}{
		"ranges and single slots": {"ccc :0@0 myself,master - 0 0 1 connected 7 0-2 9\n" + others, []int{0, 1, 2, 7, 9}},
		"a replica":               {"ccc 10.0.0.1:6379@16379 myself,slave ddd 0 0 1 connected\r\nddd 10.0.0.4:6379@16379 master - 0 0 1 connected 4-5\r\n" + others, []int{4, 5}},
		"slots on their way here": {others + "ccc 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 3 [4->-aaa] [8-<-aaa]\n", []int{3, 8}},
		"no slots":                {"ccc 10.0.0.1:6379@16379 myself,master - 0 0 1 connected\n" + others, nil},
		"a replica of nobody":     {"ccc 10.0.0.1:6379@16379 myself,slave eee 0 0 1 connected\n" + others, nil},
		"nobody is myself":        {others, nil},
		"nonsense":                {"ccc a myself - 0 0 1 connected 5-x -3 16384 4-16384 9-7 [ [- [5-<- 99999999999999999999 6\n\n  \nx", []int{5, 6}},
		"nothing":                 {"", nil},
	} {
		if got := OwnSlots(test.nodes); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestSlotOf has the answers of CLUSTER KEYSLOT, Redis 7.0.15.
func TestSlotOf(t *testing.T) {
	for name, want := range map[string]int{
		"": 0, "foo": 12182, "bar": 5061, "123456789": 12739, "ключ": 10303,
		"{user1000}.following": 3443, "limit:{u1}:x": 4574,
		"foo{}{bar}": 8363, "foo{{bar}}zap": 4015, "foo{bar}{zap}": 5061, "{bar": 4015, "}{bar}": 5061, "a{": 14311,
	} {
		if got := SlotOf(name); got != want {
			t.Errorf("%q is in slot %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]string{"foo{bar}{zap}": "bar", "foo{{bar}}zap": "{bar", "x{}y{z}": "", "x": "", "{": "", "}{": "", "}{a}": "a"} {
		if tag, tagged := HashTag(name); tagged != (want != "") || tagged && tag != want || !tagged && tag != name {
			t.Errorf("%q has the tag %q, %v", name, tag, tagged)
		}
	}
}

package source

import "testing"

func claimed(slots string) *Claim {
	return ClaimOf("m 127.0.0.1:1@2 myself,master - 0 0 1 connected " + slots)
}

func TestFit(t *testing.T) {
	claim := func(slots string, replica bool) *Claim {
		if replica {
			return ClaimOf("m 127.0.0.1:1@2 master - 0 0 1 connected " + slots + "\nr 127.0.0.1:2@3 myself,slave m 0 0 1 connected")
		}
		return claimed(slots)
	}
	for name, test := range map[string]struct {
		one, two string
		replica  bool
		want     bool
	}{
		"each slot once":                  {"0-8191", "8192-16383", false, true},
		"moved after one":                 {"0-8191", "8191-16383", false, false},
		"moved before the other":          {"0-8190", "8192-16383", false, false},
		"half moved":                      {"0-8191 [5->-b]", "8192-16383 [5-<-a]", false, true},
		"half moved after one":            {"0-8191", "8192-16383 [5-<-a]", false, false},
		"half moved before the other":     {"0-8191 [5->-b]", "8192-16383", false, false},
		"half moved, unknown to replicas": {"0-8191", "8192-16383 [5-<-a]", true, true},
	} {
		claims := []*Claim{claim(test.one, test.replica), claim(test.two, false)}
		if got := Fit(claims, HashSlots) && Settled(claims); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// FuzzClaims: whatever a server says of its slots, nobody panics.
func FuzzClaims(f *testing.F) {
	for _, slots := range []string{"0-16383", "[5-", "[", "[5->-", "-", "99999-1", "5-", "[-<-x] 7", "18446744073709551615"} {
		f.Add(slots, "0-8191")
	}
	f.Fuzz(func(_ *testing.T, one, two string) {
		claims := []*Claim{claimed(one), claimed(two)}
		Fit(claims, HashSlots)
		Settled(claims)
		OwnSlots("m 127.0.0.1:1@2 myself,master - 0 0 1 connected " + one)
	})
}

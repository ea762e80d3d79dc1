package collector

import (
	"errors"
	"maps"
	"slices"
)

// permission is what is known of a capability.
type permission int

const (
	unknown permission = iota
	permitted
	refused
)

// Capability is one thing that a server lets us do or refuses.
type Capability struct {
	Name      string
	Permitted bool
	Required  bool // needed by a feature that is switched on
	Lacking   bool // not permitted because the server has no such command
}

// capabilities remembers what the server has permitted so far.
type capabilities struct {
	known    map[string]permission
	required map[string]bool
	lacking  map[string]bool // of those that are refused
}

func newCapabilities(target Target) capabilities {
	limited := slices.ContainsFunc(target.Rules, func(r Rule) bool { return r.Limit > 0 })
	typed := slices.ContainsFunc(target.Presets, func(p Preset) bool { return p.Type != "" })
	big := target.Sweep.BigKeys.Budget > 0
	return capabilities{
		known:   map[string]permission{},
		lacking: map[string]bool{},
		required: map[string]bool{
			"info": true, "scan": true, "pttl": true, "time": true, "ping": true,
			"select":       len(target.Databases) != 1 || target.Databases[0] != 0,
			"memory_usage": target.Sweep.MemorySamples > 0 || limited || big,
			"type":         limited || typed || big,
			"length":       limited || big,
			"get":          limited,
		},
	}
}

func (c capabilities) is(name string, p permission) bool { return c.known[name] == p }
func (c capabilities) permit(name string)                { c.known[name] = permitted }
func (c capabilities) refuse(name string)                { c.known[name] = refused }

// note learns from a command's error, which it answers.
func (c capabilities) note(name string, err error) error {
	switch {
	case err == nil:
		c.permit(name)
	case denies(err):
		c.refuse(name)
		c.lacking[name] = errors.Is(err, errUnknown)
	}
	return err
}

// denies says whether an error is the server's refusal to do what was asked.
func denies(err error) bool {
	failure := (*Failure)(nil)
	return errors.As(err, &failure) && !errors.Is(err, errNoDatabase) && (failure.Reason == ReasonNoPermission || failure.Reason == ReasonRefused)
}

// list has every known capability, by name.
func (c capabilities) list() []Capability {
	var list []Capability
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		if p := c.known[name]; p != unknown {
			list = append(list, Capability{Name: name, Permitted: p == permitted, Required: c.required[name], Lacking: p == refused && c.lacking[name]})
		}
	}
	return list
}

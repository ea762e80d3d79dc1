// What a server has permitted so far, and what of it a target needs: learned from
// what comes of the commands that are sent anyway. What kind of failure an error is
// is failure.go; what is done without a permission is up to package sweep.

package source

import (
	"errors"
	"maps"
	"slices"

	"keyhealth/collector/classify"
	"keyhealth/collector/spec"
)

// Capability is one thing that a server lets us do or refuses.
type Capability struct {
	Name      string
	Permitted bool
	Required  bool // needed by a feature that is switched on
	Lacking   bool // not permitted because the server has no such command
}

// Capabilities remembers what the server has permitted so far.
type Capabilities struct {
	known    map[string]bool // whether it is permitted; missing: not known
	required map[string]bool
	lacking  map[string]bool // of those that are refused
}

// NewCapabilities knows nothing yet, but which ones a target needs.
func NewCapabilities(target spec.Target) Capabilities {
	limited := slices.ContainsFunc(target.Rules, func(r classify.Rule) bool { return r.Limit > 0 })
	typed := slices.ContainsFunc(target.Presets, func(p classify.Preset) bool { return p.Type != "" })
	big := target.Sweep.BigKeys.Budget > 0
	return Capabilities{
		known:   map[string]bool{},
		lacking: map[string]bool{},
		required: map[string]bool{
			"info": true, "scan": true, "pttl": true, "time": true, "ping": true,
			"cluster_nodes": true, "sentinel": true,
			"select":       len(target.Databases) != 1 || target.Databases[0] != 0,
			"memory_usage": target.Sweep.MemorySamples > 0 || limited || big,
			"type":         limited || typed || big,
			"length":       limited || big,
			"get":          limited,
		},
	}
}

// Knows says whether a capability was tried.
func (c Capabilities) Knows(name string) bool { _, known := c.known[name]; return known }

// Permits says whether a capability is known to be permitted.
func (c Capabilities) Permits(name string) bool { return c.known[name] }

// Refuses says whether a capability is known to be refused.
func (c Capabilities) Refuses(name string) bool { return c.Knows(name) && !c.Permits(name) }

// Permit notes that a capability is permitted, as something else than a command's
// error has shown.
func (c Capabilities) Permit(name string) { c.known[name] = true }

// Refuse notes that a capability is refused.
func (c Capabilities) Refuse(name string) { c.known[name] = false }

// Note learns from a command's error, which it answers.
func (c Capabilities) Note(name string, err error) error {
	switch {
	case err == nil:
		c.Permit(name)
	case Denies(err):
		c.Refuse(name)
		c.lacking[name] = errors.Is(err, errUnknown)
	}
	return err
}

// List has every known capability, by name.
func (c Capabilities) List() []Capability {
	var list []Capability
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		permitted := c.known[name]
		list = append(list, Capability{Name: name, Permitted: permitted, Required: c.required[name], Lacking: !permitted && c.lacking[name]})
	}
	return list
}

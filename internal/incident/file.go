package incident

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// File is a story. Keys that are not known are ignored.
type File struct {
	Path   string            `yaml:"-"`
	Name   string            // default: the name of the file
	Source string            // where it was told or how it was found
	Story  string            // in our own words
	Server map[string]string // configuration of the Redis server
	Env    map[string]string // settings of the exporter, with or without KEYHEALTH_
	Config Text              // the exporter's CONFIG_FILE
	Start  Step              `yaml:",inline"` // what there is before the exporter starts
	Steps  []Step            // later states, by virtual time
}

// Step is a state of the server and what leads to it. The order of its parts is
// that of the fields.
type Step struct {
	At      Duration          // virtual time, ascending; 0 for the start
	Kill    bool              // the server dies
	Restart bool              // and comes back, with the data that it has saved
	Change  map[string]string `yaml:"-"` // a later step's "server": CONFIG SET
	Run     []Command         `yaml:"commands"`
	Traffic []Traffic         // goes on until the next step
	Set     Sets              // series of the exporter that stand otherwise from here on
	Expect  Expect
}

// Command is sent as often as Repeat says; {i} in it counts from 1.
type Command struct {
	Repeat  int // 0 is once
	Run     Words
	MayFail bool `yaml:"may_fail"`
}

// Traffic sends commands at a pace, each with its own {i}, counted from 1.
type Traffic struct {
	PerSecond int   `yaml:"per_second"`
	Of        int   // {i} begins anew after this many; 0 is never
	Run       Words // and, where there is a Then,
	Then      Words // this one
	After     Duration
	MayFail   bool `yaml:"may_fail"`
}

// Expect is what should come. Metrics need hold in one state of a file, or in the
// state of their step.
type Expect struct {
	Metrics []string
	Fires   []string
	Quiet   []string
	Exact   bool // nothing else above severity info
}

// Words is a command: a list, or a text that is split at its spaces.
type Words []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *Words) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*w = strings.Fields(node.Value)
		return nil
	}
	return node.Decode((*[]string)(w))
}

// UnmarshalYAML implements yaml.Unmarshaler: a list or a text is a command too.
func (c *Command) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return node.Decode(&c.Run)
	}
	type plain Command
	return node.Decode((*plain)(c))
}

// Text is YAML as a text, whether it was written as one or not.
type Text string

// UnmarshalYAML implements yaml.Unmarshaler.
func (x *Text) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*x = Text(node.Value)
		return nil
	}
	text, err := yaml.Marshal(node)
	*x = Text(text)
	return err
}

// Duration is written as 90s, 20m, 6h30m or 2d.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	text, days := node.Value, 0
	if before, after, ok := strings.Cut(text, "d"); ok {
		var err error
		if days, err = strconv.Atoi(before); err != nil {
			return fmt.Errorf("line %d: %q is no duration", node.Line, node.Value)
		}
		text = after
	}
	var rest time.Duration
	if text != "" && text != "0" {
		var err error
		if rest, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("line %d: %w", node.Line, err)
		}
	}
	*d = Duration(time.Duration(days)*24*time.Hour + rest)
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Step) UnmarshalYAML(node *yaml.Node) error {
	type plain Step
	if err := node.Decode((*plain)(s)); err != nil {
		return err
	}
	var later struct{ Server map[string]string }
	if err := node.Decode(&later); err != nil {
		return err
	}
	s.Change = later.Server
	return nil
}

// Read reads a file.
func Read(path string) (File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: path, Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	if err := errors.Join(yaml.Unmarshal(text, &f), f.check()); err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	f.Start.Change = nil // the file's own "server" is there from the first moment
	return f, nil
}

func (f *File) check() error {
	last := Duration(0)
	for i, step := range f.Steps {
		if step.At <= last {
			return fmt.Errorf("step %d is at %v, not after the one before it", i+1, time.Duration(step.At))
		}
		last = step.At
	}
	return nil
}

// ReadFolder reads the files of a folder, in the order of their names.
func ReadFolder(folder string) ([]File, error) {
	var files []File
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			f, err := Read(path)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.yaml in %s", folder)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// states are the start and the steps.
func (f *File) states() []Step { return append([]Step{f.Start}, f.Steps...) }

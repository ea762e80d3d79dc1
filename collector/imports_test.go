// The rooms of the project: who may import what, and where time may pass by
// itself.

package collector

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	goRedis          = "github.com/redis/go-redis"
	prometheusModule = "github.com/prometheus"
	yamlModule       = "go.yaml.in/yaml"
)

// rooms are the packages of the collector, and what each may import beside the
// standard library: of the project only what is upstream of it.
var rooms = []struct {
	folder string
	may    []string
}{
	{"collector/classify", []string{yamlModule}},
	{"collector/cursor", nil},
	{"collector/spec", []string{"keyhealth/collector/classify"}},
	{"collector/source", []string{goRedis, "keyhealth/collector/classify", "keyhealth/collector/spec"}},
	{"collector/tally", []string{"keyhealth/collector/classify", "keyhealth/collector/source"}},
	{"collector/estimate", []string{"keyhealth/collector/classify", "keyhealth/collector/source", "keyhealth/collector/spec", "keyhealth/collector/tally"}},
	{"collector/sweep", []string{
		"keyhealth/collector/classify", "keyhealth/collector/cursor", "keyhealth/collector/estimate", "keyhealth/collector/source",
		"keyhealth/collector/spec", "keyhealth/collector/tally",
	}},
	{"collector/internal/fake", []string{"keyhealth/collector/classify", "keyhealth/collector/source", "keyhealth/collector/spec"}},
	{"collector", []string{
		"keyhealth/collector/classify", "keyhealth/collector/estimate", "keyhealth/collector/source", "keyhealth/collector/spec",
		"keyhealth/collector/sweep", "keyhealth/collector/tally", prometheusModule,
	}},
}

// roomRule refuses imports of some files.
type roomRule struct {
	name    string
	files   func(file string) bool
	refuses func(imported string) bool
}

var roomRules = append(rulesOfRooms(), []roomRule{
	{
		"a package of collector/ must have its row in rooms",
		func(f string) bool {
			return in(f, "collector") && !slices.ContainsFunc(rulesOfRooms(), func(r roomRule) bool { return r.files(f) })
		},
		func(string) bool { return true },
	},
	{
		"in collector/ only metrics*.go and collector.go know Prometheus",
		func(f string) bool {
			return in(f, "collector") && !is(f, "collector.go") && !strings.HasPrefix(path.Base(f), "metrics")
		},
		within(prometheusModule),
	},
	{
		"collector/internal/fake is for tests",
		func(f string) bool { return !test(f) },
		within("keyhealth/collector/internal/fake"),
	},
	{
		"limiter/ uses the standard library, go-redis and x/time: no Prometheus, no collector",
		func(f string) bool { return in(f, "limiter") && !test(f) },
		func(i string) bool {
			return !standard(i) && !within(goRedis, "golang.org/x/time", "keyhealth/limiter")(i)
		},
	},
	{
		"nobody imports the command",
		func(string) bool { return true },
		within("keyhealth/cmd"),
	},
	{
		"internal/redistest is for tests",
		func(f string) bool { return !test(f) && !in(f, "internal/redistest") },
		within("keyhealth/internal/redistest"),
	},
}...)

func rulesOfRooms() (rules []roomRule) {
	for _, room := range rooms {
		rules = append(rules, roomRule{
			room.folder + "/ imports the standard library and " + strings.Join(room.may, ", "),
			func(f string) bool { return path.Dir(f) == room.folder && !test(f) },
			func(i string) bool { return !standard(i) && !oneOf(i, room.may) },
		})
	}
	return rules
}

// oneOf says whether a package is in a list, or in a module of others that is.
func oneOf(imported string, list []string) bool {
	return slices.Contains(list, imported) || !strings.HasPrefix(imported, "keyhealth/") && within(list...)(imported)
}

// timerFiles may start a timer: the loop, and the pause that a context ends.
var timerFiles = []string{"collector/watcher.go", "collector/sweep/pace.go"}

func in(file, folder string) bool {
	return strings.HasPrefix(file, folder+"/") && (folder != "collector" || !test(file))
}
func is(file string, names ...string) bool { return slices.Contains(names, path.Base(file)) }
func test(file string) bool                { return strings.HasSuffix(file, "_test.go") }

// standard says whether a package is Go's own: its path has no dot in front.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && first != "keyhealth"
}

func within(modules ...string) func(string) bool {
	return func(imported string) bool {
		return slices.ContainsFunc(modules, func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") })
	}
}

// broken are the rules that a file breaks with an import.
func broken(file, imported string) (names []string) {
	for _, rule := range roomRules {
		if rule.files(file) && rule.refuses(imported) {
			names = append(names, rule.name)
		}
	}
	return names
}

// startsTimer are the calls of a file after which time passes by itself.
func startsTimer(parsed *ast.File) (calls []string) {
	ast.Inspect(parsed, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(
				[]string{"NewTimer", "NewTicker", "After", "AfterFunc", "Tick", "Sleep"}, selector.Sel.Name) {
				calls = append(calls, "time."+selector.Sel.Name)
			}
		}
		return true
	})
	return calls
}

func TestImports(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != ".." && (strings.HasPrefix(entry.Name(), ".") || is(name, "testdata", "bin", "vendor")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		files++
		file := strings.TrimPrefix(filepath.ToSlash(name), "../")
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			for _, rule := range broken(file, imported) {
				t.Errorf("%s imports %s: %s", file, imported, rule)
			}
		}
		if in(file, "collector") && !in(file, "collector/internal") && !slices.Contains(timerFiles, file) {
			for _, call := range startsTimer(parsed) {
				t.Errorf("%s calls %s: in collector/ time passes in %s only", file, call, strings.Join(timerFiles, " and "))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d files were read", files)
	}
}

// TestRoomRules proves that the rules refuse what they should, and no more.
func TestRoomRules(t *testing.T) {
	for _, test := range []struct {
		file, imported string
		broken         int
	}{
		{"collector/sweep/sweep.go", "github.com/redis/go-redis/v9", 1},
		{"collector/sweep/sweep.go", "keyhealth/collector/cursor", 0},
		{"collector/sweep/sweep.go", "keyhealth/collector", 1},
		{"collector/source/source.go", "github.com/redis/go-redis/v9", 0},
		{"collector/source/source.go", "github.com/prometheus/client_golang/prometheus", 2},
		{"collector/source/source.go", "keyhealth/collector/tally", 1},
		{"collector/estimate/estimate.go", "github.com/prometheus/client_golang/prometheus", 2},
		{"collector/estimate/estimate.go", "keyhealth/collector/sweep", 1},
		{"collector/metrics_group.go", "github.com/prometheus/client_golang/prometheus", 0},
		{"collector/watcher.go", "github.com/prometheus/client_golang/prometheus", 1},
		{"collector/metrics.go", "github.com/redis/go-redis/v9", 1},
		{"collector/classify/rules.go", "go.yaml.in/yaml/v3", 0},
		{"collector/classify/rules.go", "golang.org/x/sync/errgroup", 1},
		{"collector/classify/rules.go", "keyhealth/limiter", 1},
		{"collector/classify/rules.go", "net/http", 0},
		{"collector/cursor/line.go", "keyhealth/collector/source", 1},
		{"collector/new/new.go", "math", 1},
		{"collector/sweep/sweep.go", "keyhealth/collector/internal/fake", 2},
		{"collector/sweep/sweep_test.go", "keyhealth/collector/internal/fake", 0},
		{"collector/sweep/sweep_test.go", "go.uber.org/goleak", 0},
		{"limiter/window.go", "github.com/redis/go-redis/v9", 0},
		{"limiter/window.go", "github.com/prometheus/client_golang/prometheus", 1},
		{"limiter/window.go", "keyhealth/collector", 1},
		{"limiter/flawed/a.go", "keyhealth/limiter", 0},
		{"collector/sweep/sweep_test.go", "keyhealth/cmd/exporter", 1},
		{"internal/demo/demo.go", "keyhealth/internal/redistest", 1},
		{"internal/demo/demo_test.go", "keyhealth/internal/redistest", 0},
	} {
		if got := broken(test.file, test.imported); len(got) != test.broken {
			t.Errorf("%s imports %s: breaks %v, want %d rules", test.file, test.imported, got, test.broken)
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nimport \"time\"\nvar a, b, c = time.Now(), time.Tick(1), time.NewTimer", 0)
	if err != nil || !slices.Equal(startsTimer(parsed), []string{"time.Tick", "time.NewTimer"}) {
		t.Errorf("timers of a file: %v, %v", startsTimer(parsed), err)
	}
}

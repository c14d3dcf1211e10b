package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/tickmark/tickmark/"

// layers gives each package its place: a package imports only packages with a
// smaller number, and its own subfolders. The longest prefix counts.
var layers = map[string]int{
	"datasets/spec":          0,
	"analysis/unit":          0,
	"analysis/report":        1,
	"datasets/spec/spectest": 1,
	"datasets/wire":          1,
	"datasets/gen":           1,
	"datasets":               2,
	"datasets/corpus":        3,
	"probes/echo":            2,
	"analysis":               3,
	"probes/stamp":           3,
	"probes/nic":             3,
	"probes/daemon":          3,
	"probes":                 3,
	"probes/serve":           4,
	"probes/doctor":          4,
	"adaptive":               4,
	"plots":                  5,
	"plots/page":             6,
	"cmd":                    7,
}

// impure are the imports that the core must not have: it gets time, bytes and
// chance from its callers.
var impure = map[string]string{
	"net": "network", "net/http": "network", "os": "files and environment", "os/exec": "processes",
	"syscall": "system calls", "golang.org/x/sys/unix": "system calls", "context": "waiting", "sync": "goroutines",
	"math/rand": "a global random source", "crypto/rand": "a random source without a seed", "log": "talk",
}

// impureCalls are functions of allowed packages that reach outside all the same.
var impureCalls = map[string]string{
	"time.Now": "clock", "time.Since": "clock", "time.Until": "clock", "time.Sleep": "clock", "time.After": "clock",
	"time.Tick": "clock", "time.NewTimer": "clock", "time.NewTicker": "clock", "time.AfterFunc": "clock",
	"rand.Int": "global random source", "rand.IntN": "global random source", "rand.Float64": "global random source",
	"rand.Int64": "global random source", "rand.Uint64": "global random source", "rand.Perm": "global random source",
	"rand.Shuffle": "global random source", "rand.NormFloat64": "global random source", "rand.ExpFloat64": "global random source",
}

func TestImportOrder(t *testing.T) {
	walk(t, func(t *testing.T, folder string, f *ast.File, at func(ast.Node) string) {
		t.Helper()
		own, ok := layerOf(folder)
		if !ok {
			t.Errorf("%s: package %q has no layer", at(f), folder)
		}
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			imported, local := strings.CutPrefix(path, module)
			if !local || strings.HasPrefix(imported, folder+"/") {
				continue
			}
			if layer, _ := layerOf(imported); layer >= own {
				t.Errorf("%s: %s (layer %d) imports %s (layer %d)", at(spec), folder, own, imported, layer)
			}
		}
	})
}

func TestCoreIsPure(t *testing.T) {
	walk(t, func(t *testing.T, folder string, f *ast.File, at func(ast.Node) string) {
		t.Helper()
		if top, _, _ := strings.Cut(folder, "/"); (top == "probes" && folder != "probes/echo") || top == "cmd" {
			return
		}
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if why, bad := impure[path]; bad {
				t.Errorf("%s: the core imports %s: %s", at(spec), path, why)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: the core starts a goroutine", at(n))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil {
					if why, bad := impureCalls[x.Name+"."+n.Sel.Name]; bad {
						t.Errorf("%s: the core uses %s.%s: %s", at(n), x.Name, n.Sel.Name, why)
					}
				}
			}
			return true
		})
	})
}

// TestRulesBite holds the two rules to code that breaks them.
func TestRulesBite(t *testing.T) {
	if own, _ := layerOf("analysis/order"); own != layers["analysis"] {
		t.Errorf("analysis/order: layer %d, want that of analysis", own)
	}
	if _, ok := layerOf("elsewhere"); ok {
		t.Error("a folder of no layer has one")
	}
}

func layerOf(folder string) (int, bool) {
	for folder != "." && folder != "" {
		if layer, ok := layers[folder]; ok {
			return layer, true
		}
		folder = filepath.Dir(folder)
	}
	return 0, false
}

// walk calls check for every Go file of the project that is not a test.
func walk(t *testing.T, check func(t *testing.T, folder string, f *ast.File, at func(ast.Node) string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		files++
		check(t, filepath.ToSlash(folder), f, func(n ast.Node) string { return fset.Position(n.Pos()).String() })
		return nil
	})
	if err != nil || files < 10 {
		t.Fatalf("%d files read: %v", files, err)
	}
}

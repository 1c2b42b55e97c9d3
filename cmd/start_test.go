package cmd

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every hook of every agent starts the program, so a start compiles only the expressions that it
// always needs.
func TestNoExpressionIsCompiledAtTheStart(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return errOrSkip(err)
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if of, ok := decl.(*ast.GenDecl); !ok || of.Tok != token.VAR {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false // it runs when it is called
				case *ast.SelectorExpr:
					if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile") {
						t.Errorf("%s: use pattern.New", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil || files < 200 {
		t.Errorf("looked at %d files, %v", files, err)
	}
}

func errOrSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// A program that is linked to the C library starts later. Only the standard library could link it,
// and CGO_ENABLED=0, as in README's installation, prevents that.
func TestOnlyTheStandardLibraryUsesC(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}", "./cmd/reverie")
	cmd.Dir = ".."
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Fields(string(out)); len(found) > 0 {
		t.Errorf("%q use C", found)
	}
}

// Every hook pays for the values that packages build before main begins, so the linker lays tables
// out, or the first use builds them. The test counts bytes and allocations, which are the same at
// every start. Libraries and Go itself have a bound of their own, a quarter above their use when it
// was set: a new library above it shows its cost here.
func TestStartBuildsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	program := filepath.Join(t.TempDir(), "reverie.exe")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program, "./cmd/reverie")
	build.Dir, build.Env = "..", append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start := exec.Command(program, "hook")
	start.Env = append(start.Environ(), "GODEBUG=inittrace=1")
	trace, err := start.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	const ours = "github.com/reverie-memory/reverie/"
	all, bytes, allocs := 0, 0, 0
	type theirs struct {
		line          string
		bytes, allocs int
	}
	var total theirs
	var others []theirs
	for line := range strings.Lines(string(trace)) {
		var pkg string
		var at, took float64
		var size, count int
		if n, _ := fmt.Sscanf(line, "init %s @%g ms, %g ms clock, %d bytes, %d allocs", &pkg, &at, &took, &size, &count); n < 5 {
			continue
		}
		all++
		if strings.HasPrefix(pkg, ours) {
			bytes, allocs = bytes+size, allocs+count
			t.Log(strings.TrimSpace(line))
			continue
		}
		total.bytes, total.allocs = total.bytes+size, total.allocs+count
		others = append(others, theirs{strings.TrimSpace(line), size, count})
	}
	if all < 20 || bytes > 2048 || allocs > 32 {
		t.Errorf("of %d packages, ours took %d bytes in %d allocations before main, want at most 2048 in 32", all, bytes, allocs)
	}
	if total.bytes > 420<<10 || total.allocs > 3000 {
		slices.SortFunc(others, func(a, b theirs) int { return cmp.Compare(b.allocs, a.allocs) })
		t.Errorf("libraries took %d bytes in %d allocations before main, want at most %d in 3000; most of them:", total.bytes, total.allocs, 420<<10)
		for _, o := range others[:min(8, len(others))] {
			t.Error(o.line)
		}
	}
	t.Logf("libraries took %d bytes in %d allocations", total.bytes, total.allocs)
}

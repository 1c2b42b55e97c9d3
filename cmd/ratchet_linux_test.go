package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A shape measures how hard a package is to take apart.
type shape struct {
	knot    int // files of the largest group that all reach each other
	methods int // of the type that has most
}

// ceilings bound the shapes of packages. A commit may lower them. Packages without an entry keep to
// small.
var ceilings = map[string]shape{
	"cmd":                    {10, 21},
	"cmd/check":              {6, 25},
	"cmd/tui":                {3, 30},
	"dream":                  {10, 27},
	"gitstore":               {6, 30},
	"gitstore/catalog":       {2, 23},
	"gitstore/purge":         {6, 29},
	"gitstore/recall":        {9, 30},
	"gitstore/recall/vector": {7, 21},
	"gitstore/record":        {3, 30},
	"hooks/setup/agents":     {3, 26},
	"internal/git":           {7, 27},
	"internal/reader":        {4, 28},
	"internal/redact":        {6, 18},
	"internal/term":          {2, 26},
	"reflect":                {10, 29},
	"reflect/transcript":     {3, 25},
	"sandbox":                {5, 26},
	"worktree":               {6, 30},
}

// small bounds any package.
var small = shape{knot: 8, methods: 20}

// maxCmd bounds the lines of package cmd, tests aside. A commit may lower it.
const maxCmd = 10324

// maxFunction bounds the lines of a function, tests aside.
const maxFunction = 80

func TestShapesOnlyShrink(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,IgnoredGoFiles,Standard", "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles, IgnoredGoFiles []string // the latter are for other systems
		Standard                bool
	}
	exports := map[string]string{}
	var ours []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) && len(p.GoFiles) > 0 {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range ours {
		var files []*ast.File
		lines := 0
		name := strings.TrimPrefix(p.ImportPath, module)
		for i, file := range append(p.GoFiles, p.IgnoredGoFiles...) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if i < len(p.GoFiles) {
				files = append(files, f)
				lines += fset.File(f.Pos()).LineCount()
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunction {
						t.Errorf("%s: function %s has %d lines, may have %d: divide it by thought", path.Join(name, file), fn.Name.Name, n, maxFunction)
					}
				}
			}
		}
		got, err := measure(fset, p.ImportPath, files, compiled)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		limit, known := ceilings[name]
		if !known {
			limit = small
		}
		if got.knot > limit.knot || got.methods > limit.methods {
			t.Errorf("%s: %+v, may be %+v: move a part of it into a package of its own", name, got, limit)
		}
		if known && (got.knot < limit.knot || got.methods < limit.methods) {
			t.Errorf("%s: %+v is better than its ceiling %+v: lower the ceiling", name, got, limit)
		}
		if name == "cmd" && lines > maxCmd {
			t.Errorf("cmd has %d lines, may have %d", lines, maxCmd)
		}
	}
}

// measure finds which file uses what is declared in which other, by the type checker's word.
func measure(fset *token.FileSet, path string, files []*ast.File, imports types.Importer) (shape, error) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(path, fset, files, info)
	if err != nil {
		return shape{}, err
	}
	uses := map[string]map[string]bool{}
	for id, obj := range info.Uses {
		from, to := fset.Position(id.Pos()).Filename, fset.Position(obj.Pos()).Filename
		if obj.Pkg() != pkg || from == to || to == "" {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	s := shape{knot: knot(uses)}
	for _, name := range pkg.Scope().Names() {
		if t, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !t.IsAlias() {
			if named, ok := t.Type().(*types.Named); ok {
				s.methods = max(s.methods, named.NumMethods())
			}
		}
	}
	return s, nil
}

// knot returns the size of the largest strongly connected component of a graph with more than one
// node, else 0 (Tarjan, SIAM Journal on Computing 1972).
func knot(graph map[string]map[string]bool) int {
	index, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	most := 0
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		on[v] = true
		for w := range graph[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		size := 0
		for {
			w := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			on[w] = false
			size++
			if w == v {
				break
			}
		}
		if size > 1 {
			most = max(most, size)
		}
	}
	for v := range graph {
		if index[v] == 0 {
			visit(v)
		}
	}
	return most
}

func TestKnot(t *testing.T) {
	edges := func(pairs ...string) map[string]map[string]bool {
		g := map[string]map[string]bool{}
		for _, p := range pairs {
			from, to, _ := strings.Cut(p, ">")
			if g[from] == nil {
				g[from] = map[string]bool{}
			}
			g[from][to] = true
		}
		return g
	}
	for want, g := range map[int]map[string]map[string]bool{
		0: edges("a>b", "b>c", "a>c"),
		2: edges("a>b", "b>a", "c>a"),
		3: edges("a>b", "b>c", "c>a", "d>e", "e>d", "a>d"),
	} {
		if got := knot(g); got != want {
			t.Errorf("%v: %d, want %d", g, got, want)
		}
	}
}

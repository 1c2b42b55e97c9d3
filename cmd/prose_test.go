package cmd

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// faults counts the forms of prose that CONTRIBUTING.md rules out.
type faults struct {
	opening int // sentences that begin with What, Who, Of, Where, Those and the like
	clause  int // "X is what …"
	word    int
	wide    int // lines of Markdown or Go comments with more than 100 characters
}

// proseCeilings bound the faults of each top-level folder. A commit may only lower them. Folders
// without an entry have none.
var proseCeilings = map[string]faults{
	"bench":    {0, 0, 0, 0},
	"cmd":      {0, 0, 0, 0},
	"dream":    {0, 0, 0, 1},
	"e2e":      {0, 0, 0, 2},
	"gitstore": {7, 0, 0, 1},
	"hooks":    {0, 0, 0, 0},
	"internal": {2, 0, 1, 3},
	"prompts":  {0, 0, 0, 0},
	"reflect":  {0, 0, 0, 4},
	"sandbox":  {0, 0, 0, 0},
	"worktree": {1, 0, 0, 7},
}

var (
	openings = regexp.MustCompile(`(?:^|[.!?:] )(?:What|Who|Whoever|Whatever|Of|Where|Those|One that)\b`)
	clauses  = regexp.MustCompile(`^[\w.]+(?: and \w+)? (?:is|are) (?:what|which|how|whether|who|whoever|where|whatever)\b`)
	words    = regexp.MustCompile(`(?i)\b(?:anew|of ours|is none|are none|borne out|whoever|nobody|somebody|has it done|lies there)\b`)
	code     = regexp.MustCompile("`[^`]*`|“[^”]*”|\"[^\"]*\"")
	bullet   = regexp.MustCompile(`^(?:[-*>|#]+|\d+\.)\s+`)
)

// Prose has no more faults than before: in Go comments, in the texts of cmd, and in Markdown.
func TestProse(t *testing.T) {
	found := map[string]faults{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if generated, _ := filepath.Match(filepath.FromSlash("../packaging/plugins/*"), path); generated {
				return filepath.SkipDir
			}
			if name == "testdata" || name == "node_modules" || len(name) > 2 && name[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		path, _ = filepath.Rel("..", path)
		folder, _, below := strings.Cut(filepath.ToSlash(path), "/")
		if !below {
			folder = "."
		}
		f := found[folder]
		switch {
		case strings.HasSuffix(name, ".go"):
			f.goFile(t, path, folder == "cmd" && !strings.HasSuffix(name, "_test.go"))
		case strings.HasSuffix(name, ".md") && folder != "prompts" && path != filepath.FromSlash("docs/commands.md"):
			f.markdown(t, path)
		}
		found[folder] = f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, f := range found {
		ceiling := proseCeilings[folder]
		for _, c := range []struct {
			name      string
			count, at int
		}{
			{"sentences that begin with What, Who, Of, Where, Those", f.opening, ceiling.opening},
			{"comments of the form 'X is what'", f.clause, ceiling.clause},
			{"words such as anew, whoever, nobody", f.word, ceiling.word},
			{"lines of more than 100 characters", f.wide, ceiling.wide},
		} {
			switch {
			case c.count > c.at:
				t.Errorf("%s: %d %s, may have %d; go test -run Prose -v ./cmd lists them", folder, c.count, c.name, c.at)
			case c.count < c.at:
				t.Logf("%s: %d %s: lower the ceiling of %d", folder, c.count, c.name, c.at)
			}
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %d folders were read", len(found))
	}
}

// goFile counts in the comments of a Go file, and in its texts if texts is true.
func (f *faults) goFile(t *testing.T, path string, texts bool) {
	src, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile(path, -1, len(src))
	s.Init(file, src, nil, scanner.ScanComments)
	var block strings.Builder
	last := 0
	flush := func() {
		if block.Len() > 0 {
			f.text(t, path, last, block.String())
			block.Reset()
		}
	}
	for {
		pos, tok, lit := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			flush()
			return
		case tok == token.COMMENT && strings.HasPrefix(lit, "// "):
			if utf8.RuneCountInString(lit)+file.Position(pos).Column-1 > 100 && !strings.Contains(lit, "://") {
				f.wide++
				listFault(t, "%s:%d: wide", path, line)
			}
			if line != last+1 || strings.HasPrefix(lit, "//  ") {
				flush()
			}
			block.WriteString(strings.TrimPrefix(lit, "//"))
			last = line
		case tok == token.STRING && texts:
			flush()
			if text, err := strconv.Unquote(lit); err == nil && strings.Contains(text, " ") {
				f.text(t, path, line, text)
			}
		default:
			flush()
		}
	}
}

// markdown counts in a Markdown file, without its code.
func (f *faults) markdown(t *testing.T, path string) {
	var block strings.Builder
	at := 0
	flush := func() {
		f.text(t, path, at, block.String())
		block.Reset()
	}
	for line := range strings.Lines(prose(t, filepath.Join("..", path)) + "\n") {
		at++
		line = strings.TrimRight(line, "\n")
		if utf8.RuneCountInString(line) > 100 && !strings.HasPrefix(line, "|") {
			f.wide++
			listFault(t, "%s: wide: %.40s", path, line)
		}
		bare := strings.TrimSpace(line)
		if short := bullet.ReplaceAllString(bare, ""); short != bare || bare == "" {
			flush()
			bare = short
		}
		block.WriteString(" " + bare)
	}
	flush()
}

// text counts in one paragraph. Quoted words and code do not count.
func (f *faults) text(t *testing.T, path string, line int, text string) {
	text = strings.TrimSpace(code.ReplaceAllString(text, "x"))
	report := func(count *int, matches []string) {
		*count += len(matches)
		for _, m := range matches {
			listFault(t, "%s:%d: %q in %.90q", path, line, m, text)
		}
	}
	report(&f.opening, openings.FindAllString(text, -1))
	report(&f.clause, clauses.FindAllString(text, 1))
	report(&f.word, words.FindAllString(text, -1))
}

// listFault logs one fault if go test -v asks for a list.
func listFault(t *testing.T, format string, args ...any) {
	if testing.Verbose() {
		t.Logf(format, args...)
	}
}

package anchor

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

const (
	maxAnchored = 1 << 20 // bytes of the largest file that may get an anchor
	grepNames   = 4       // of one statement, searched in all of the code
	grepMost    = 8       // a name in more files is too frequent
	grepFiles   = 2       // likewise if more files define it, or more have it without a definition
)

// search looks for the anchors of one memory.
type search struct {
	c      *Commit
	names  []record.Name
	files  []namedFile
	ending []string // words with a file's ending that match no path from the top
	cut    bool     // part of the code was not searched
}

// namedFile is a file to search for lines.
type namedFile struct {
	path, blob string
	line       int // named by the statement, from 1
}

// GrepTime bounds how long one command searches the whole code for names in statements.
const GrepTime = time.Second

// Find returns the places in the code that a memory names, at most record.MaxAnchors in the text
// form of record.Anchor. It looks at the files in the memory's paths and words, and there for lines
// with its other names. It searches all of the code for the remaining names until grep ends. whole
// is false if that took too long.
func (c *Commit) Find(ctx, grep context.Context, m record.Memory) (out []string, whole bool) {
	if c.files == nil {
		return nil, true
	}
	s := &search{c: c, names: m.Names()}
	var tokens []string
	for _, span := range m.Quoted() {
		if _, isName := record.ParseName(span, true); !s.add(ctx, span) && !isName {
			tokens = append(tokens, span)
		}
	}
	for _, word := range m.Files() {
		s.add(ctx, word)
	}
	s.addEndings(ctx, grep)
	for _, path := range m.Paths { // from the top
		s.add(ctx, path)
	}
	var bare []string
	has := map[string]bool{} // names that a file has which the memory names
	for _, f := range s.files[:min(maxJudged, len(s.files))] {
		if len(out) == record.MaxAnchors {
			break
		}
		text, err := c.files.Read(ctx, f.blob)
		if err != nil || len(text) > maxAnchored {
			continue
		}
		before := len(out)
		lines := lineAt(text, f.line)
		for _, n := range s.names {
			if line, _, _ := record.FindName(text, n); line != "" { // a loose name too: the file is named
				lines, has[n.Text] = append(lines, line), true
			}
		}
		for _, token := range append(lines, tokens...) {
			out = s.addLine(out, f, text, token)
		}
		if a, ok := record.NewAnchor(f.path, f.blob, text, nil); ok && len(out) == before {
			bare = s.addAnchor(bare, a)
		}
	}
	s.names = slices.DeleteFunc(s.names, func(n record.Name) bool { return has[n.Text] })
	if len(out) < record.MaxAnchors {
		out = s.addNames(ctx, grep, out)
	}
	out = append(out, bare...)
	out = out[:min(len(out), record.MaxAnchors)]
	slices.Sort(out)
	return out, !s.cut
}

// add adds the path of a file that a word names, if it does.
func (s *search) add(ctx context.Context, word string) bool {
	path, line := splitLine(word)
	path = strings.TrimPrefix(path, "./")
	if slices.ContainsFunc(s.files, func(f namedFile) bool { return f.path == path }) {
		return true
	}
	if strings.ContainsAny(path, "*?[{") {
		return false
	}
	blob, err := s.c.files.File(ctx, path)
	if err == nil {
		s.files = append(s.files, namedFile{path, blob, line})
	} else if codeEnding.MatchString(path) {
		s.ending = append(s.ending, word)
	}
	return err == nil
}

// codeEnding matches a name of two letters or more with an ending of code files.
var codeEnding = pattern.New(`(^|/)[\w.@-]*\w{2}\.[a-z][a-z0-9]{0,4}$`)

// addEndings finds files by the end of their path, such as orders.go, if the end is unique.
func (s *search) addEndings(ctx, grep context.Context) {
	if len(s.ending) == 0 {
		return
	}
	found := map[string][]namedFile{}
	err := s.c.files.Walk(ctx, func(path, blob string) bool {
		for _, word := range s.ending {
			end, line := splitLine(word)
			if strings.HasSuffix(path, "/"+strings.TrimPrefix(end, "./")) {
				found[word] = append(found[word], namedFile{path, blob, line})
			}
		}
		return grep.Err() == nil
	})
	if err != nil || grep.Err() != nil {
		s.cut = true
		return
	}
	for _, word := range s.ending {
		if list := found[word]; len(list) == 1 && !slices.ContainsFunc(s.files, func(f namedFile) bool { return f.path == list[0].path }) {
			s.files = append(s.files, list[0])
		}
	}
}

// addNames searches names in all of the code and anchors their defining lines. Without a definition
// it takes other lines, if the word is clearly a name in few files.
func (s *search) addNames(ctx, grep context.Context, out []string) []string {
	names := s.names[:min(grepNames, len(s.names))]
	if len(names) == 0 {
		return out
	}
	var words []string
	for _, n := range names {
		words = append(words, n.Text)
		if n.Whole != n.Text {
			words = append(words, n.Whole)
		}
	}
	found, err := s.c.of.Repo.Grep(grep, s.c.ID, words, grepMost)
	if err != nil {
		s.cut = true
		return out
	}
	for _, n := range names {
		paths := found[n.Text]
		if len(paths) > grepMost {
			paths = nil
		}
		if n.Whole != n.Text && len(found[n.Whole]) <= grepMost {
			paths = append(slices.Clone(paths), found[n.Whole]...)
		}
		for _, p := range s.places(ctx, n, paths) {
			out = s.addLine(out, p.namedFile, p.text, p.found)
		}
	}
	return out
}

// place is a file with a line that contains a name.
type place struct {
	namedFile
	text  []byte
	found string // the line
}

// places returns those files with a name that can hold its anchor.
func (s *search) places(ctx context.Context, n record.Name, paths []string) []place {
	var defining, having []place
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		blob, err := s.c.files.File(ctx, path)
		if err != nil {
			continue
		}
		text, err := s.c.files.Read(ctx, blob)
		if err != nil || len(text) > maxAnchored {
			continue
		}
		line, defined, ok := record.FindName(text, n)
		p := place{namedFile{path: path, blob: blob}, text, line}
		switch {
		case !ok:
		case defined && inPath(path, n.Of):
			defining = append(defining, p)
		case len(n.Of) == 0 || strings.Contains(line, n.Whole):
			having = append(having, p)
		}
	}
	if len(defining) == 0 && (len(n.Of) > 0 || !n.Loose) {
		defining = having
	}
	if len(defining) > grepFiles || n.Loose && len(defining) > 1 {
		return nil
	}
	return defining
}

// inPath reports whether a path has a name's qualifier as a folder or a file. In Go, Rust, Python
// and similar languages a package or a module is one of them. A capitalised qualifier may be a
// type, and self is anything.
func inPath(path string, of []string) bool {
	if len(of) == 0 {
		return true
	}
	last := of[len(of)-1]
	if unicode.IsUpper(rune(last[0])) || slices.Contains([]string{"self", "this", "crate", "super"}, last) {
		return true
	}
	for part := range strings.SplitSeq(path, "/") {
		stem, _, _ := strings.Cut(part, ".")
		if strings.EqualFold(stem, last) {
			return true
		}
	}
	return false
}

// addLine adds the anchor of a line with a token, if there is room and such a line.
func (s *search) addLine(list []string, f namedFile, text []byte, token string) []string {
	a, ok := record.NewAnchor(f.path, f.blob, text, []string{token})
	if !ok || a.Snippet == "" || len(list) >= record.MaxAnchors {
		return list
	}
	return s.addAnchor(list, a)
}

// addAnchor adds an anchor unless the scanner would redact it, which would make it impossible to
// find.
func (s *search) addAnchor(list []string, a record.Anchor) []string {
	text := a.String()
	clean, _ := s.c.of.Book.Clean(record.Memory{Anchors: []string{text}})
	if clean.Anchors[0] != text || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// splitLine parses path:line or path:line:column.
func splitLine(span string) (path string, line int) {
	path, rest, ok := strings.Cut(span, ":")
	if ok {
		first, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(first); err == nil && n > 0 {
			return path, n
		}
		return span, 0
	}
	return span, 0
}

// lineAt returns a line of a text, numbered from 1, without the white space around it.
func lineAt(text []byte, n int) []string {
	for line := range strings.Lines(string(text)) {
		if n--; n == 0 {
			if line = strings.TrimSpace(line); line != "" {
				return []string{line}
			}
		}
	}
	return nil
}

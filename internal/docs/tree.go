package docs

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/internal/file"
)

// Bounds for reading one work tree.
const (
	maxFile    = 256 << 10 // bytes of one file; the rest is not read
	maxAll     = 2 << 20   // bytes of all of them
	maxFiles   = 200
	maxListed  = 2000 // names looked at in one folder
	maxFolders = 16   // folders besides the top whose own documents are read
)

// Place is a line of a file that states something.
type Place struct {
	File string // below the top of the work tree, with slashes
	Line int    // from 1
}

func (p Place) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// Tree knows the statements of a work tree's documents and task runners. The zero value and nil
// state nothing.
type Tree struct {
	dir       *os.Root
	read      map[string]bool // folders
	seen      []os.FileInfo   // files read, to recognise links to them
	left      int             // bytes
	analyzer  terms.Analyzer
	sentences []sentence
	with      map[string][]int // term → sentences that have it
	commands  map[string][]said
}

// said is a command in a document, or the task of a task runner.
type said struct {
	Place
	dir string // in which it is run
}

// Read reads the top of a work tree: README, AGENTS.md and its like, CONTRIBUTING, the documents in
// docs, and the lists of task runners. Says reads a deeper folder when it is asked about it.
// Unreadable files state nothing.
func Read(top string) *Tree {
	t := &Tree{read: map[string]bool{}, left: maxAll, with: map[string][]int{}, commands: map[string][]said{}}
	if top == "" {
		return t
	}
	dir, err := os.OpenRoot(top)
	if err != nil {
		return t
	}
	t.dir = dir
	t.folder("")
	return t
}

// Close ends reading. Says keeps answering from the files already read.
func (t *Tree) Close() {
	if t != nil && t.dir != nil {
		t.dir.Close()
		t.dir = nil
	}
}

// folder reads the documents and task lists of a folder, "" at the top.
func (t *Tree) folder(dir string) {
	if t.dir == nil || t.read[dir] || len(t.read) > maxFolders {
		return
	}
	t.read[dir] = true
	for _, name := range t.list(dir) {
		if read := tasks(name); read != nil {
			if text := t.text(path.Join(dir, name)); text != "" {
				read(text, func(line int, command string) { t.command(Place{path.Join(dir, name), line}, dir, command) })
			}
		} else if isDocument(name) {
			t.document(path.Join(dir, name), dir)
		}
	}
	for _, sub := range []string{"docs", ".github", ".cursor/rules"} {
		for _, name := range t.list(path.Join(dir, sub)) {
			if ext := strings.ToLower(path.Ext(name)); sub == "docs" && ext == ".md" || ext == ".mdc" || name == "copilot-instructions.md" || isContributing(name) {
				t.document(path.Join(dir, sub, name), dir)
			}
		}
	}
}

// list names the entries of a folder, sorted.
func (t *Tree) list(dir string) []string {
	entries, err := fs.ReadDir(t.dir.FS(), path.Join(".", dir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries[:min(maxListed, len(entries))] {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// isDocument reports whether a file is read as a document, by its name.
func isDocument(name string) bool {
	switch strings.ToLower(name) {
	case "agents.md", "claude.md", "gemini.md", ".cursorrules":
		return true
	}
	return isContributing(name) || hasName(name, "readme")
}

func isContributing(name string) bool {
	return hasName(name, "contributing") || hasName(name, "development")
}

// hasName reports whether a document has a name, as README, README.md or README.zh.md do.
func hasName(file, name string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(file), name)
	if !ok || rest != "" && rest[0] != '.' && rest[0] != '-' && rest[0] != '_' {
		return false
	}
	return slices.Contains([]string{"", ".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc"}, path.Ext(rest))
}

// text returns a file's content, as far as the budget allows; "" if it is not a regular file of the
// work tree.
func (t *Tree) text(name string) string {
	if len(t.seen) >= maxFiles || t.left <= 0 {
		return ""
	}
	info, err := t.dir.Stat(name)
	if err != nil || !info.Mode().IsRegular() || slices.ContainsFunc(t.seen, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
		return ""
	}
	text, _, err := file.ReadIn(t.dir, name, int64(min(maxFile, t.left)))
	if err != nil {
		return ""
	}
	t.seen = append(t.seen, info)
	t.left -= len(text)
	return string(text)
}

// document reads a Markdown file whose commands are run in dir.
func (t *Tree) document(name, dir string) {
	text := t.text(name)
	if text == "" {
		return
	}
	block, in := 0, dir
	for _, u := range Markdown(text).Units {
		at := Place{name, u.Line}
		if u.Form == Code {
			if u.Block != block {
				block, in = u.Block, dir
			}
			in = t.line(at, in, u.Text)
			continue
		}
		for _, code := range spans(u.Text) {
			t.line(at, dir, code)
		}
		t.unit(at, u)
	}
}

// line adds the commands of a line and returns the folder that it leads to.
func (t *Tree) line(at Place, dir, line string) string {
	for _, c := range commandsOf(line) {
		if to, ok := cd(c); ok {
			dir = join(dir, to)
			continue
		}
		t.put(at, dir, c)
	}
	return dir
}

// command adds one command.
func (t *Tree) command(at Place, dir, command string) {
	for _, c := range commandsOf(command) {
		t.put(at, dir, c)
	}
}

func (t *Tree) put(at Place, dir string, words []string) {
	key := commandKey(words)
	t.commands[key] = append(t.commands[key], said{at, dir})
}

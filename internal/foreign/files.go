package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/docs"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// Files that agents read at every start, and memory files of agents and their plug-ins. Their items
// have no keys: At locates each, and a changed item is a new one.

// maxNotes bounds such a file, in bytes, and manyNotes the files read of one folder.
const (
	maxNotes  = 1 << 20
	manyNotes = 1000
)

// folder is a folder whose files are read.
type folder struct {
	dir   *os.Root
	label string // precedes the names of its files in At
	seen  []os.FileInfo
	read  budget
	any   bool // there was some file
}

func openFolder(name, label string) (*folder, error) {
	dir, err := os.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNone)
	} else if err != nil {
		return nil, err
	}
	return &folder{dir: dir, label: label}, nil
}

// text returns a file's content, and false if it is missing, not a regular file of the folder, or
// another name of a file read before.
func (d *folder) text(name string, f *Found) (string, bool) {
	info, err := d.dir.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if err == nil && slices.ContainsFunc(d.seen, func(seen os.FileInfo) bool { return os.SameFile(seen, info) }) {
		return "", false
	}
	text, whole, err := file.ReadIn(d.dir, name, maxNotes)
	if err == nil {
		err = d.read.spend(len(text))
	}
	if err != nil || !whole {
		f.Bad++
		return "", false
	}
	d.seen, d.any = append(d.seen, info), true
	return string(text), true
}

// list names the files of a subfolder, sorted.
func (d *folder) list(name string) []string {
	entries, _ := fs.ReadDir(d.dir.FS(), name)
	var out []string
	for _, e := range entries[:min(manyNotes, len(entries))] {
		if !e.IsDir() {
			out = append(out, path.Join(name, e.Name()))
		}
	}
	return out
}

// take adds the statements of a file.
func (d *folder) take(name string, s style, f *Found) {
	if text, ok := d.text(name, f); ok {
		f.add(rules(text, d.label+name, s)...)
	}
}

// none returns the error of a folder without such files.
func (d *folder) none(f *Found) error {
	if d.any || f.Bad > 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", f.Place, ErrNone)
}

// inFolder lets fn read files of a folder. The error wraps ErrNone if it found none.
func inFolder(name, label string, f *Found, fn func(*folder)) error {
	d, err := openFolder(name, label)
	if err != nil {
		return err
	}
	defer d.dir.Close()
	fn(d)
	return d.none(f)
}

// readInstructions reads the files that agents read at every start, at the top of the work tree, or
// one file of that kind.
func readInstructions(_ context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(q.top())
	if info, err := os.Stat(f.Place); err == nil && info.Mode().IsRegular() {
		return inFolder(filepath.Dir(f.Place), "", f, func(d *folder) { d.take(filepath.Base(f.Place), instructions, f) })
	}
	return inFolder(f.Place, "", f, func(d *folder) { d.instructions(f) })
}

func (d *folder) instructions(f *Found) {
	for _, name := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"} {
		d.take(name, instructions, f)
	}
	if text, ok := d.text(".cursorrules", f); ok {
		s := plain
		if slices.ContainsFunc(docs.Markdown(text).Units, func(u docs.Unit) bool { return u.Form == docs.Bullet }) {
			s = instructions
		}
		f.add(rules(text, ".cursorrules", s)...)
	}
	for _, name := range d.list(".cursor/rules") {
		if path.Ext(name) != ".mdc" {
			continue
		}
		text, ok := d.text(name, f)
		if !ok {
			continue
		}
		paths := globs(docs.Markdown(text).Front["globs"])
		for _, i := range rules(text, name, instructions) {
			i.Paths = paths
			f.add(i)
		}
	}
}

// globs returns the globs of a Cursor rule, one for each.
func globs(text string) []string {
	var out []string
	for _, g := range list(strings.Trim(text, "[]")) {
		if g = strings.Trim(g, `"' `); g != "" && g != "**" && g != "**/*" && g != "*" {
			out = append(out, g)
		}
	}
	return out
}

// top returns the current work tree.
func (q Query) top() string {
	if len(q.Dirs) == 0 {
		return ""
	}
	return q.Dirs[0]
}

// inTree reads files of the work tree, or of the requested folder.
func inTree(dir string, styles map[string]style) func(context.Context, Query, *Found) error {
	return func(_ context.Context, q Query, f *Found) error {
		label := dir + "/"
		if f.Place, f.Usual = q.place(filepath.Join(q.top(), filepath.FromSlash(dir))); !f.Usual {
			label = ""
		}
		return inFolder(f.Place, label, f, func(d *folder) {
			for _, name := range slices.Sorted(maps.Keys(styles)) {
				d.take(name, styles[name], f)
			}
		})
	}
}

// slugged matches the characters that Claude Code replaces in the folder name of a project.
var slugged = pattern.New(`[^A-Za-z0-9]`)

// readClaude reads Claude Code's memory of this repository: a file for each fact, and MEMORY.md,
// which may hold more than links to them.
func readClaude(_ context.Context, q Query, f *Found) error {
	usual := ""
	for _, dir := range spellings(q.Dirs...) {
		place := filepath.Join(q.Folder("claude"), "projects", slugged.ReplaceAllString(dir, "-"), "memory")
		usual = cmp.Or(usual, place)
		if info, err := os.Stat(place); err == nil && info.IsDir() {
			usual = place
			break
		}
	}
	f.Place, f.Usual = q.place(usual)
	return inFolder(f.Place, "claude-memory/", f, func(d *folder) {
		for _, name := range d.list(".") {
			if path.Ext(name) != ".md" || name == "MEMORY.md" {
				continue
			}
			if text, ok := d.text(name, f); ok {
				f.add(fact(text, d.label+name)...)
			}
		}
		d.take("MEMORY.md", memory, f)
	})
}

// spellings returns folders as they are, and with links resolved.
func spellings(dirs ...string) []string {
	var out []string
	for _, dir := range dirs {
		out = append(out, filepath.Clean(dir))
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != out[len(out)-1] {
			out = append(out, real)
		}
	}
	return out
}

// readGemini reads Gemini CLI's memory of this repository, and its user's global memory.
func readGemini(_ context.Context, q Query, f *Found) error {
	gemini := q.Folder("gemini")
	f.Place, f.Usual = q.place(filepath.Join(gemini, "tmp", q.geminiProject(gemini), "memory"))
	d, err := openFolder(f.Place, "gemini-memory/")
	if err == nil {
		defer d.dir.Close()
		for _, name := range d.list(".") {
			if path.Ext(name) == ".md" {
				d.take(name, memory, f)
			}
		}
	} else if !errors.Is(err, ErrNone) {
		return err
	}
	if !f.Usual {
		return err
	}
	home, err2 := openFolder(gemini, "gemini-memory/")
	if err2 != nil {
		return errors.Join(err, err2)
	}
	defer home.dir.Close()
	if text, ok := home.text("GEMINI.md", f); ok {
		for _, i := range rules(text, "gemini-memory/GEMINI.md", bullets) {
			i.User, i.Kind = true, "preference"
			f.add(i)
		}
	}
	if d == nil || !d.any {
		f.Place = gemini
		return home.none(f)
	}
	return nil
}

// geminiProject returns Gemini CLI's folder for this repository. It uses the list of projects, the
// project's mark, or the hash of the work tree that older versions use.
func (q Query) geminiProject(home string) string {
	for dir, name := range past.GeminiProjects(home) {
		if q.holds(dir) && filepath.IsLocal(name) {
			return name
		}
	}
	return past.GeminiHash(q.top())
}

// codexAbout matches the sections of Codex's memories that hold statements rather than a log.
var codexAbout = pattern.New(`(?i)\b(?:user preferences|preference signals|reusable knowledge|failures and how|general tips)\b`)

var cwdLine = pattern.New(`(?m)^(?:applies_to: )?cwd[:=] ?([^;\n]+?)(?:;.*)?$`)

// readCodex reads Codex's memories, in both of its layouts. One folder serves all projects. It
// skips memories that do not name this project's folder, except the user's preferences, and notes
// if no other project is named at all.
func readCodex(_ context.Context, q Query, f *Found) error {
	f.Place, f.Usual = q.place(q.Folder("codex"))
	found := false
	for _, sub := range []string{"memories_v2", "memories"} {
		place := filepath.Join(f.Place, sub)
		if !f.Usual {
			place = f.Place
		}
		d, err := openFolder(place, "codex-memory/")
		if errors.Is(err, ErrNone) {
			continue
		} else if err != nil {
			return err
		}
		readCodexFolder(d, q, f)
		found = found || d.any || f.Bad > 0
		d.dir.Close()
		if !f.Usual {
			break
		}
	}
	if !found {
		return fmt.Errorf("%s: %w", f.Place, ErrNone)
	}
	return nil
}

func readCodexFolder(d *folder, q Query, f *Found) {
	mine := func(text string) bool {
		m := cwdLine.FindStringSubmatch(text)
		return m != nil && q.holds(strings.TrimSpace(m[1]))
	}
	take := func(items []Item, want func(Item) bool) {
		for _, i := range items {
			if want(i) {
				f.add(i)
			} else {
				f.Others++
			}
		}
	}
	alone, some := true, false
	for _, name := range d.list("rollout_summaries") {
		text, ok := d.text(name, f)
		if !ok || path.Ext(name) != ".md" {
			continue
		}
		if some = true; !mine(text) {
			alone = false
			continue
		}
		f.add(about(text, d.label+name)...)
	}
	alone = alone && some
	if text, ok := d.text("MEMORY.md", f); ok {
		line := 1
		for n, group := range strings.Split(text, "\n# Task Group:") {
			if n > 0 {
				group = "# Task Group:" + group
			}
			items := about(strings.Repeat("\n", line-1)+group, d.label+"MEMORY.md")
			take(items, func(Item) bool { return mine(group) })
			line += strings.Count(group, "\n") + 1
		}
	}
	if text, ok := d.text("memory_summary.md", f); ok {
		take(about(text, d.label+"memory_summary.md"), func(i Item) bool { return i.User || alone })
	}
	for _, name := range d.list("extensions/ad_hoc/notes") {
		if text, ok := d.text(name, f); ok && path.Ext(name) == ".md" {
			take(rules(text, d.label+name, memory), func(Item) bool { return alone })
		}
	}
}

// about returns the bullets of the sections with statements. Preferences are the user's.
func about(text, at string) []Item {
	var out []Item
	items := map[string][]Item{}
	for _, i := range rules(text, at, bullets) {
		items[i.At] = append(items[i.At], i)
	}
	for _, u := range docs.Markdown(clean(text)).Units {
		section := u.Under
		if section == "" && len(u.Headings) > 0 {
			section = u.Headings[len(u.Headings)-1]
		}
		if !codexAbout.MatchString(section) {
			continue
		}
		for _, i := range items[docs.Place{File: at, Line: u.Line}.String()] {
			i.Text = strings.TrimPrefix(i.Text, u.Under+": ")
			if strings.HasPrefix(strings.ToLower(section), "user preferences") && strings.HasSuffix(at, "/memory_summary.md") {
				i.User, i.Kind = true, "preference"
			}
			out = append(out, i)
		}
	}
	return out
}

// Package dotenv finds the .env files of a repository: in every work tree and folder, including
// links. Begin with Find.
//
// The state folder keeps the result, with the modification time of each folder. The next Find reads
// only folders that changed since, so a hook can afford it. Several processes may Find at once.
package dotenv

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// File is a .env file, or a link to one.
type File struct {
	Path    string
	Tracked bool // in git's index: everyone with the repository can read it
}

// Effort bounds one Find.
type Effort struct {
	Anew    bool          // go through all folders, ignoring the kept listing
	Folders int           // kept folders to check
	Time    time.Duration // that going through folders may take
}

// The efforts that a hook, a command and the worker can afford.
var (
	Quick   = Effort{Folders: 256, Time: 300 * time.Millisecond}
	Usual   = Effort{Folders: maxKept, Time: time.Second}
	Patient = Effort{Anew: true, Time: 5 * time.Second}
)

// Bounds of the search, and of the kept listing.
const (
	maxFolders = 20_000
	maxEntries = 500_000
	maxKept    = 1000 // folders, those nearest to the top
	maxFiles   = 256
)

// Named reports whether a file of that name holds environment settings: .env with any suffix,
// *.env, .envrc, .dev.vars, .flaskenv and .npmrc.
func Named(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, ".env") || strings.HasSuffix(name, ".env") || strings.HasPrefix(name, ".dev.vars") || name == ".flaskenv" || name == ".npmrc"
}

// passed lists folders of third-party files, which hold no secrets of the user.
var passed = []string{".git", ".hg", ".svn", "node_modules", "bower_components", "site-packages", "__pycache__"}

// settles bounds how long a folder may change again without a new modification time.
const settles = 2 * time.Second

// Find returns the .env files of all work trees: first those that git does not track, then those
// nearest to the top. It skips folders that are unreadable or take too long.
func Find(ctx context.Context, repo *git.Repo, e Effort) []File {
	ctx, cancel := context.WithTimeout(ctx, e.Time)
	defer cancel()
	w := &walk{ctx: ctx, repo: repo}
	if kept := read(repo, e.Folders); e.Anew || kept == nil || !w.again(kept) {
		w.anew()
	}
	if w.changed {
		write(repo, &w.listing)
	}
	files := w.files
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(order(a.Tracked, b.Tracked), cmp.Compare(rank(a.Path), rank(b.Path)), cmp.Compare(depth(a.Path), depth(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	return files
}

// rank puts seldom-committed files first, so that files in a repository cannot displace them.
func rank(path string) int {
	switch name := filepath.Base(path); {
	case strings.HasSuffix(name, ".local"):
		return 0
	case name == ".env":
		return 1
	}
	return 2
}

func depth(path string) int { return strings.Count(path, string(filepath.Separator)) }

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// walk goes through folders, nearest to the top first.
type walk struct {
	listing
	ctx     context.Context
	repo    *git.Repo
	queue   []string
	entries int
	changed bool // compared with the kept listing
}

// anew goes through all work trees.
func (w *walk) anew() {
	w.listing, w.changed = listing{trees: changeOf(treesOf(w.repo)), roots: roots(w.ctx, w.repo)}, true
	w.queue = slices.Clone(w.roots)
	known := map[string]bool{}
	for _, root := range w.roots {
		known[root] = true // one may lie in another
	}
	w.drain(known)
	w.ask()
}

// again updates the kept listing by reading the folders that changed. It returns false if the work
// trees differ.
func (w *walk) again(kept *listing) bool {
	if kept.trees != changeOf(treesOf(w.repo)) || w.repo.WorkTree != "" && !slices.Contains(kept.roots, w.repo.WorkTree) {
		return false
	}
	w.listing = listing{trees: kept.trees, roots: kept.roots, rest: kept.rest}
	gone := map[string]bool{} // and those that are read again
	known := map[string]bool{}
	var links []string
	for _, d := range kept.folders {
		known[d.path] = true
		switch at, ok := d.time(); {
		case ok && at.UnixNano() == d.changed:
			w.folders = append(w.folders, d)
		case ok && d.linked:
			links = append(links, d.path)
			gone[d.path] = true
		case ok:
			w.queue = append(w.queue, d.path)
			gone[d.path] = true
		case slices.Contains(kept.roots, d.path):
			return false
		default:
			gone[d.path] = true
		}
	}
	tracked := map[string]bool{}
	for _, f := range kept.files {
		if tracked[f.Path] = f.Tracked; !gone[filepath.Dir(f.Path)] {
			w.files = append(w.files, f)
		}
	}
	if w.changed = len(gone) > 0; w.changed {
		further := listing{rest: kept.rest} // they are taken as they were
		if further.parse(maxKept) != nil {
			return false
		}
		for _, d := range further.folders {
			known[d.path] = true
		}
		w.folders, w.rest = append(w.folders, further.folders...), ""
	}
	for _, link := range links {
		w.linked(link)
	}
	w.drain(known)
	for i, f := range w.files {
		w.files[i].Tracked = f.Tracked || tracked[f.Path]
	}
	return true
}

// drain reads the queued folders and any unknown folders below them. The next run reads the rest.
func (w *walk) drain(known map[string]bool) {
	for n := 0; len(w.queue) > 0 && n < maxFolders && w.entries < maxEntries && w.ctx.Err() == nil; n++ {
		dir := w.queue[0]
		w.queue = w.queue[1:]
		w.read(dir, known)
	}
	for _, dir := range w.queue {
		w.folders = append(w.folders, folder{path: dir})
	}
	slices.SortStableFunc(w.folders, func(a, b folder) int { return depth(a.path) - depth(b.path) })
}

// read reads one folder.
func (w *walk) read(dir string, known map[string]bool) {
	all := strings.Contains(dir+string(filepath.Separator), string(filepath.Separator)+".envs"+string(filepath.Separator))
	w.enter(folder{path: dir}, func(e fs.DirEntry) {
		path := filepath.Join(dir, e.Name())
		link := e.Type()&fs.ModeSymlink != 0
		switch {
		case e.IsDir() && slices.Contains(passed, e.Name()), (e.IsDir() || link) && known[path]:
		case e.IsDir():
			known[path] = true
			w.queue = append(w.queue, path)
		case Named(e.Name()) || all:
			w.add(path)
		case link:
			w.linked(path)
		}
	})
}

// enter goes through the entries of a folder.
func (w *walk) enter(d folder, do func(fs.DirEntry)) {
	now := time.Now()
	at, ok := d.time()
	if !ok {
		return
	}
	if d.changed = at.UnixNano(); now.Sub(at) < settles {
		d.changed = 0
	}
	f, err := os.Open(d.path)
	if err != nil {
		return
	}
	defer f.Close()
	w.folders = append(w.folders, d)
	for w.entries < maxEntries && w.ctx.Err() == nil {
		some, err := f.ReadDir(1000)
		w.entries += len(some)
		for _, e := range some {
			do(e)
		}
		if err != nil || len(some) == 0 {
			return
		}
	}
}

// linked reads a folder outside of the work trees that a link leads to. It skips folders below,
// which may be many.
func (w *walk) linked(link string) {
	real, err := filepath.EvalSymlinks(link)
	if err != nil || slices.ContainsFunc(w.roots, func(root string) bool { return within(root, real) }) {
		return
	}
	w.enter(folder{path: link, linked: true}, func(e fs.DirEntry) {
		if Named(e.Name()) {
			w.add(filepath.Join(link, e.Name()))
		}
	})
}

// within reports whether a path is a folder or inside it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func (w *walk) add(path string) {
	if len(w.files) < maxFiles {
		w.files = append(w.files, File{Path: path})
	}
}

// ask marks the files that git tracks. Without an answer it marks none.
func (w *walk) ask() {
	tracked := map[string]bool{}
	for _, t := range trees(w.repo) {
		var names []string
		for _, f := range w.files {
			if rel, err := filepath.Rel(t.top, f.Path); err == nil && filepath.IsLocal(rel) {
				names = append(names, ":(literal)"+filepath.ToSlash(rel))
			}
		}
		if len(names) == 0 {
			continue
		}
		cmd := w.repo.Command(w.ctx, append([]string{"--git-dir=" + t.gitDir, "--work-tree=" + t.top, "ls-files", "-z", "--cached", "--"}, names...)...)
		cmd.Dir = t.top
		out, err := cmd.Output()
		if err != nil {
			continue
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			tracked[filepath.Join(t.top, filepath.FromSlash(name))] = true
		}
	}
	for i, f := range w.files {
		w.files[i].Tracked = tracked[f.Path]
	}
}

// tree is a work tree with its own git directory.
type tree struct{ top, gitDir string }

// trees returns the work trees of a repository, this one first.
func trees(repo *git.Repo) []tree {
	var all []tree
	add := func(top, gitDir string) {
		if top != "" && !slices.ContainsFunc(all, func(t tree) bool { return t.top == top }) {
			all = append(all, tree{top, gitDir})
		}
	}
	add(repo.WorkTree, repo.GitDir)
	if filepath.Base(repo.CommonDir) == ".git" && !repo.Bare {
		add(filepath.Dir(repo.CommonDir), repo.CommonDir)
	}
	linked, _ := os.ReadDir(treesOf(repo))
	for _, l := range linked {
		gitDir := filepath.Join(treesOf(repo), l.Name())
		text, err := file.Read(filepath.Join(gitDir, "gitdir"), 64<<10)
		if err != nil {
			continue
		}
		at := strings.TrimRight(string(text), "\r\n")
		if !filepath.IsAbs(at) { // as worktree.useRelativePaths has it
			at = filepath.Join(gitDir, at)
		}
		top := filepath.Dir(at)
		if real, err := filepath.EvalSymlinks(top); err == nil {
			top = real
		}
		add(top, gitDir)
	}
	return all[:min(len(all), maxTrees)]
}

// maxTrees bounds the visited work trees.
const maxTrees = 64

// roots returns the folders where a listing begins: the work trees and, for a submodule, the tree
// around it.
func roots(ctx context.Context, repo *git.Repo) []string {
	var all []string
	for _, t := range trees(repo) {
		all = append(all, t.top)
	}
	sep := string(filepath.Separator)
	if around, _, ok := strings.Cut(repo.CommonDir, sep+".git"+sep+"modules"+sep); ok {
		if repo.WorkTree != "" && repo.GitDir != repo.CommonDir { // a linked one: git names the main one
			if out, err := repo.Git(ctx, nil, "config", "--file", filepath.Join(repo.CommonDir, "config"), "core.worktree"); err == nil {
				at := strings.TrimRight(string(out), "\r\n")
				if !filepath.IsAbs(at) {
					at = filepath.Join(repo.CommonDir, at)
				}
				all = append(all, filepath.Clean(at))
			}
		}
		all = append(all, around)
	}
	return all
}

// treesOf returns the folder in which git keeps the linked work trees.
func treesOf(repo *git.Repo) string { return filepath.Join(repo.CommonDir, "worktrees") }

// changeOf returns the modification time of a folder, 0 if it is missing, and -1 if it may still
// change unnoticed.
func changeOf(dir string) int64 {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0
	case err != nil || time.Since(info.ModTime()) < settles:
		return -1
	}
	return info.ModTime().UnixNano()
}

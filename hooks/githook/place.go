package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// Place is git's folder for a repository's hooks.
type Place struct {
	Dir   string
	Tool  string // the program that manages the hooks, "" without one
	Avoid string // the reason to write nothing there, "" without one
}

// managers are programs that overwrite hooks, by the files at the top of a work tree that configure
// them.
var managers = []struct {
	name  string
	files []string
}{
	{"lefthook", []string{"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml",
		".lefthook.toml", ".lefthook.json", ".config/lefthook.yml", ".config/lefthook.yaml"}},
	{"overcommit", []string{".overcommit.yml"}},
}

// FindPlace finds the folder of the hooks. We write only to git's own folder. Any other belongs to
// the project, or to all repositories.
func FindPlace(ctx context.Context, repo *git.Repo) (Place, error) {
	dir, scope, err := repo.HooksDir(ctx)
	p := Place{Dir: dir}
	if err != nil {
		return p, fmt.Errorf("find the folder of hooks: %w", err)
	}
	real := dir
	if real, err = filepath.EvalSymlinks(dir); errors.Is(err, os.ErrNotExist) {
		real, err = filepath.EvalSymlinks(filepath.Dir(dir))
		real = filepath.Join(real, filepath.Base(dir))
	}
	switch {
	case scope == "global" || scope == "system" || scope == "command":
		p.Avoid = fmt.Sprintf("core.hooksPath of the %s configuration leads to %s, which is for every repository", scope, dir)
	case err != nil && scope != "":
		p.Avoid = fmt.Sprintf("core.hooksPath leads to %s, which is not there", dir)
	case err != nil:
		return p, fmt.Errorf("find the folder of hooks: %w", err)
	case filepath.Dir(real) != repo.CommonDir && scope == "":
		p.Avoid = fmt.Sprintf("%s is a symbolic link to %s", dir, real)
	case filepath.Dir(real) != repo.CommonDir:
		p.Avoid = fmt.Sprintf("core.hooksPath leads to %s, which is not git's own folder", dir)
	}
	for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
		if strings.HasPrefix(part, ".husky") {
			p.Tool, p.Avoid = "husky", fmt.Sprintf("husky has the hooks, in %s", dir)
		}
	}
	if repo.WorkTree == "" || p.Tool != "" {
		return p, nil
	}
	for _, m := range managers {
		for _, name := range m.files {
			if _, err := os.Lstat(filepath.Join(repo.WorkTree, filepath.FromSlash(name))); err == nil {
				p.Tool, p.Avoid = m.name, fmt.Sprintf("%s has the hooks (%s)", m.name, name)
				return p, nil
			}
		}
	}
	return p, nil
}

// Dirs returns the folders that may have a section: the one that git uses, then git's own.
func (p Place) Dirs(repo *git.Repo) []string {
	own := filepath.Join(repo.CommonDir, "hooks")
	if a, err := os.Stat(own); err == nil {
		if b, err := os.Stat(p.Dir); err == nil && os.SameFile(a, b) {
			return []string{own}
		}
	}
	return []string{p.Dir, own}
}

// ByHand says how a person adds our lines to foreign hooks, and returns these lines in the form of
// their manager.
func (p Place) ByHand(left []Left) (how, lines string) {
	switch p.Tool {
	case "lefthook":
		how = "to have them all the same, add this to lefthook-local.yml, which is yours alone:"
	case "husky":
		how = "to have them all the same, add to each file in .husky the line below its name, which does nothing where Reverie is not installed:"
	default:
		how = fmt.Sprintf("to have them all the same, add the line below its name to each, in %s:", p.Dir)
	}
	form := "%s:\n%s\n"
	if p.Tool == "lefthook" {
		form = "%s:\n  commands:\n    reverie:\n      use_stdin: true\n      run: set -- {0}; %s\n"
	}
	for _, l := range left {
		lines += fmt.Sprintf(form, l.Hook, l.Line)
	}
	return how, strings.TrimSuffix(lines, "\n")
}

// Mention is a file with calls of our scripts that a person added.
type Mention struct {
	File  string
	Hooks []string
}

// Mentions finds the lines that Place.ByHand tells a person to add: in the files of managers, and
// in hooks outside our section.
func (p Place) Mentions(repo *git.Repo) (found []Mention) {
	var files []string
	dirs := []string{p.Dir, filepath.Dir(p.Dir), filepath.Join(repo.CommonDir, "hooks")}
	if repo.WorkTree != "" {
		dirs = append(dirs, filepath.Join(repo.WorkTree, ".husky"))
	}
	for _, dir := range dirs {
		for _, h := range All {
			files = append(files, filepath.Join(dir, h.Name))
		}
	}
	if repo.WorkTree != "" {
		for _, m := range managers {
			for _, name := range m.files {
				local := strings.Replace(name, "lefthook.", "lefthook-local.", 1)
				files = append(files, filepath.Join(repo.WorkTree, filepath.FromSlash(name)), filepath.Join(repo.WorkTree, filepath.FromSlash(local)))
			}
		}
		files = append(files, filepath.Join(repo.WorkTree, ".pre-commit-config.yaml"))
	}
	seen := map[string]bool{}
	for _, path := range files {
		if info, err := os.Stat(path); seen[path] || err != nil || !info.Mode().IsRegular() || info.Size() > maxHook {
			continue
		}
		seen[path] = true
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if names := Called(text); len(names) > 0 {
			found = append(found, Mention{path, names})
		}
	}
	return found
}

package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
)

type gitHookOptions struct {
	trailers bool // prepare-commit-msg too
	dryRun   bool
}

// hookPlace is where git looks for this repository's hooks.
type hookPlace struct {
	dir   string
	tool  string // the program that has the hooks in its hands, "" if none
	avoid string // why nothing is written there, "" if something may be
}

// hookManagers are programs that write hooks anew as they please, by the files at the top of a work tree that say so.
var hookManagers = []struct {
	name  string
	files []string
}{
	{"lefthook", []string{"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json", ".config/lefthook.yml", ".config/lefthook.yaml"}},
	{"overcommit", []string{".overcommit.yml"}},
}

// hookPlace finds out where hooks go, and whether that is ours to write to: git's own folder and no other. What lies
// elsewhere is the project's, or all repositories'.
func (w *workspace) hookPlace(ctx context.Context) (hookPlace, error) {
	dir, scope, err := w.repo.HooksDir(ctx)
	p := hookPlace{dir: dir}
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
		p.avoid = fmt.Sprintf("core.hooksPath of the %s configuration leads to %s, which is for every repository", scope, dir)
	case err != nil && scope != "":
		p.avoid = fmt.Sprintf("core.hooksPath leads to %s, which is not there", dir)
	case err != nil:
		return p, fmt.Errorf("find the folder of hooks: %w", err)
	case filepath.Dir(real) != w.repo.CommonDir && scope == "":
		p.avoid = fmt.Sprintf("%s is a symbolic link to %s", dir, real)
	case filepath.Dir(real) != w.repo.CommonDir:
		p.avoid = fmt.Sprintf("core.hooksPath leads to %s, which is not git's own folder", dir)
	}
	for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
		if strings.HasPrefix(part, ".husky") {
			p.tool, p.avoid = "husky", fmt.Sprintf("husky has the hooks, in %s", dir)
		}
	}
	for _, m := range hookManagers {
		for _, name := range m.files {
			if _, err := os.Lstat(filepath.Join(w.repo.WorkTree, filepath.FromSlash(name))); err == nil && w.repo.WorkTree != "" && p.tool == "" {
				p.tool, p.avoid = m.name, fmt.Sprintf("%s has the hooks (%s)", m.name, name)
			}
		}
	}
	return p, nil
}

// installGitHooks puts our part into the hooks of git that are asked for, and returns what there is to tell. Doing it
// again brings everything up to date. A hook that is not touched is told with what to add to it.
func (w *workspace) installGitHooks(ctx context.Context, o gitHookOptions) ([]string, error) {
	place, err := w.hookPlace(ctx)
	if err != nil {
		return nil, err
	}
	program, err := hookProgram()
	if err != nil {
		return nil, err
	}
	var put, left []hooks.GitHook
	var told []string
	for _, h := range hooks.GitHooks {
		if h.Asked && !o.trailers && !w.hasGitScript(h) {
			continue
		}
		if !o.dryRun {
			if err := w.writeGitScript(h, program); err != nil {
				return told, err
			}
		}
		if place.avoid != "" {
			left = append(left, h)
			continue
		}
		changed, err := h.Install(place.dir, o.dryRun)
		switch {
		case errors.Is(err, hooks.ErrHook):
			told = append(told, fmt.Sprintf("%s: %v; what it needs is a line: %s", filepath.Join(place.dir, h.Name), err, h.Snippet()))
		case err != nil:
			return told, fmt.Errorf("git hook %s: %w", h.Name, err)
		case changed:
			put = append(put, h)
		}
	}
	verb := "put"
	if o.dryRun {
		verb = "would put"
	}
	switch {
	case len(put) > 0:
		told = append([]string{fmt.Sprintf("%s a section into %s in %s", verb, hookNames(put), place.dir)}, told...)
	case len(left) > 0:
		told = append(told, place.avoid+": it is left as it is", addByHand(place, left))
	case len(told) == 0:
		told = append(told, "the git hooks are there already, in "+place.dir)
	}
	return told, nil
}

func hookNames(list []hooks.GitHook) string {
	var names []string
	for _, h := range list {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// addByHand says what a person may add to hooks that we do not touch, in the words of the program that has them: one
// text, of which the lines below the first can be copied.
func addByHand(p hookPlace, list []hooks.GitHook) string {
	var b strings.Builder
	switch p.tool {
	case "lefthook":
		b.WriteString("to have them all the same, add this to lefthook-local.yml, which is yours alone:")
	case "husky":
		b.WriteString("to have them all the same, add to each file in .husky a line, which does nothing where Reverie is not installed:")
	default:
		fmt.Fprintf(&b, "to have them all the same, add a line to each, in %s:", p.dir)
	}
	for _, h := range list {
		if p.tool == "lefthook" {
			fmt.Fprintf(&b, "\n%s:\n  commands:\n    reverie:\n      use_stdin: true\n      run: set -- {0}; %s", h.Name, h.Snippet())
		} else {
			fmt.Fprintf(&b, "\n%s: %s", h.Name, h.Snippet())
		}
	}
	return b.String()
}

// gitScript is where our part of a hook lies.
func (w *workspace) gitScript(h hooks.GitHook) string {
	return filepath.Join(w.state, hooks.GitHookDir, h.Name)
}

func (w *workspace) hasGitScript(h hooks.GitHook) bool {
	_, err := os.Lstat(w.gitScript(h))
	return err == nil
}

// writeGitScript brings our part of a hook up to date, and sees that there is a file for it to write to.
func (w *workspace) writeGitScript(h hooks.GitHook, program string) error {
	state, err := w.repo.StateDir()
	if err != nil {
		return err
	}
	links, err := file.Open(filepath.Join(state, hooks.LinksFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return err
	}
	if err := links.Close(); err != nil {
		return err
	}
	script := h.Script(program, w.config.Ref)
	if old, err := os.ReadFile(w.gitScript(h)); err == nil && bytes.Equal(old, script) {
		return nil
	}
	return w.repo.WriteState(hooks.GitHookDir+"/"+h.Name, script, false)
}

// gitHookDirs are the folders in which a section of ours may be: where git looks now, and where it does without a setting.
func (w *workspace) gitHookDirs(ctx context.Context) ([]string, error) {
	place, err := w.hookPlace(ctx)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(w.repo.CommonDir, "hooks")
	if a, err := os.Stat(own); err == nil {
		if b, err := os.Stat(place.dir); err == nil && os.SameFile(a, b) {
			return []string{own}, nil
		}
	}
	return []string{place.dir, own}, nil
}

// gitHookArtefacts are the sections of ours in git's hooks, for uninstall. The scripts are part of the state folder.
func (w *workspace) gitHookArtefacts(ctx context.Context) ([]artefact, error) {
	dirs, err := w.gitHookDirs(ctx)
	if err != nil {
		return nil, err
	}
	var found []artefact
	for _, dir := range dirs {
		for _, h := range hooks.GitHooks {
			file := filepath.Join(dir, h.Name)
			if !hooks.HasSection(file) {
				continue
			}
			found = append(found, artefact{"the reverie section in " + file, func(context.Context) error { return h.Remove(dir) }})
		}
	}
	return found, nil
}

// examineGitHooks looks at what was installed of git's hooks, for doctor.
func (w *workspace) examineGitHooks(ctx context.Context) []examined {
	row := examined{What: "git hooks", State: "ok", Detail: "not installed"}
	broken := func(err error) []examined {
		row.State, row.Detail = "broken", err.Error()
		return []examined{row}
	}
	dirs, err := w.gitHookDirs(ctx)
	if err != nil {
		return broken(err)
	}
	place, err := w.hookPlace(ctx)
	if err != nil {
		return broken(err)
	}
	program, err := hookProgram()
	passing := errors.Is(err, hooks.ErrPassing) // then the scripts cannot be compared
	if err != nil && !passing {
		return broken(err)
	}
	sections, elsewhere, old := 0, 0, 0
	for _, h := range hooks.GitHooks {
		for _, dir := range dirs {
			has := hooks.HasSection(filepath.Join(dir, h.Name))
			switch {
			case has && dir == dirs[0]:
				sections++
			case has:
				elsewhere++
			}
		}
		if script, err := os.ReadFile(w.gitScript(h)); err == nil {
			if !passing && !bytes.Equal(script, h.Script(program, w.config.Ref)) {
				old++
			}
			if changed, err := h.Install(dirs[0], true); err == nil && changed && place.avoid == "" {
				old++
			}
		} else if hooks.HasSection(filepath.Join(dirs[0], h.Name)) {
			old++
		}
	}
	_, err = os.Lstat(filepath.Join(w.state, hooks.LinksFile))
	row.mend = func(ctx context.Context) error {
		_, err := w.installGitHooks(ctx, gitHookOptions{})
		return err
	}
	row.Fix = "reverie init --git-hooks"
	switch {
	case elsewhere > 0 && sections == 0:
		row.State, row.Detail, row.mend = "broken", fmt.Sprintf("installed in %s, but git looks in %s", dirs[len(dirs)-1], place.dir), nil
		row.Fix = "git config --show-origin core.hooksPath says why; 'reverie init --git-hooks' says what to add there"
	case sections > 0 && (old > 0 || err != nil):
		row.State, row.Detail = "broken", fmt.Sprintf("not as this version of Reverie writes them, in %s", place.dir)
	case sections > 0:
		row.Detail, row.Fix, row.mend = fmt.Sprintf("%d in %s", sections, place.dir), "", nil
	case place.avoid != "" && w.hasGitScript(hooks.GitHooks[0]):
		row.State, row.Detail, row.mend = "note", place.avoid+": whether its hooks call Reverie is not known", nil
	default:
		row.Fix, row.mend = "", nil
	}
	return []examined{row}
}

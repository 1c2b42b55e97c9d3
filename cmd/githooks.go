package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/install"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
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
	dir, scope, err := w.Repo.HooksDir(ctx)
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
	case filepath.Dir(real) != w.Repo.CommonDir && scope == "":
		p.avoid = fmt.Sprintf("%s is a symbolic link to %s", dir, real)
	case filepath.Dir(real) != w.Repo.CommonDir:
		p.avoid = fmt.Sprintf("core.hooksPath leads to %s, which is not git's own folder", dir)
	}
	for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
		if strings.HasPrefix(part, ".husky") {
			p.tool, p.avoid = "husky", fmt.Sprintf("husky has the hooks, in %s", dir)
		}
	}
	for _, m := range hookManagers {
		for _, name := range m.files {
			if _, err := os.Lstat(filepath.Join(w.Repo.WorkTree, filepath.FromSlash(name))); err == nil && w.Repo.WorkTree != "" && p.tool == "" {
				p.tool, p.avoid = m.name, fmt.Sprintf("%s has the hooks (%s)", m.name, name)
			}
		}
	}
	return p, nil
}

// gitHooksJSON is what became of git's hooks, in the answer of init --json.
type gitHooksJSON struct {
	Dir       string         `json:"dir"`       // where git looks for them
	Installed []string       `json:"installed"` // have our section, or would
	Left      []leftHookJSON `json:"left"`      // stay as they are

	told []string // what there is to tell people
}

type leftHookJSON struct {
	Hook string `json:"hook"`
	Why  string `json:"why"`
	Line string `json:"line"` // that a person may add to it
}

// installGitHooks puts our part into the hooks of git that are asked for. Doing it again brings everything up to date. A hook
// that is not touched is told with what to add to it.
func (w *workspace) installGitHooks(ctx context.Context, o gitHookOptions) (*gitHooksJSON, error) {
	place, err := w.hookPlace(ctx)
	if err != nil {
		return nil, err
	}
	program, err := hookProgram()
	if err != nil {
		return nil, err
	}
	if !o.dryRun {
		unlock, err := w.Repo.Lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	done := &gitHooksJSON{Dir: place.dir, Installed: []string{}, Left: []leftHookJSON{}}
	var put, left []githook.Hook
	for _, h := range githook.All {
		if h.Asked && !o.trailers && !w.hasGitScript(h) {
			continue
		}
		if !o.dryRun {
			if err := w.writeGitScript(h, program); err != nil {
				return done, err
			}
		}
		if place.avoid != "" {
			left = append(left, h)
			done.Left = append(done.Left, leftHookJSON{h.Name, place.avoid, h.Snippet()})
			continue
		}
		changed, err := h.Install(place.dir, o.dryRun)
		switch {
		case errors.Is(err, githook.ErrRefused):
			done.told = append(done.told, fmt.Sprintf("%s: %v; what it needs is a line: %s", filepath.Join(place.dir, h.Name), err, h.Snippet()))
			done.Left = append(done.Left, leftHookJSON{h.Name, err.Error(), h.Snippet()})
			continue
		case err != nil:
			return done, fmt.Errorf("git hook %s: %w", h.Name, err)
		case changed:
			put = append(put, h)
		}
		done.Installed = append(done.Installed, h.Name)
	}
	verb := "put"
	if o.dryRun {
		verb = "would put"
	}
	switch {
	case len(put) > 0:
		done.told = append([]string{fmt.Sprintf("%s a section into %s in %s", verb, hookNames(put), place.dir)}, done.told...)
	case len(left) > 0:
		done.told = append(done.told, place.avoid+": it is left as it is", addByHand(place, left))
	case len(done.told) == 0:
		done.told = append(done.told, "the git hooks are there already, in "+place.dir)
	}
	return done, nil
}

func hookNames(list []githook.Hook) string {
	var names []string
	for _, h := range list {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// addByHand says what a person may add to hooks that we do not touch, in the words of the program that has them: one
// text, of which the lines below the first can be copied.
func addByHand(p hookPlace, list []githook.Hook) string {
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
func (w *workspace) gitScript(h githook.Hook) string {
	return filepath.Join(w.State, githook.ScriptDir, h.Name)
}

func (w *workspace) hasGitScript(h githook.Hook) bool {
	_, err := os.Lstat(w.gitScript(h))
	return err == nil
}

// writeGitScript brings our part of a hook up to date, and sees that there is a file for it to write to.
func (w *workspace) writeGitScript(h githook.Hook, program string) error {
	state, err := w.Repo.StateDir()
	if err != nil {
		return err
	}
	links, err := file.Open(filepath.Join(state, githook.LinksFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return err
	}
	if err := links.Close(); err != nil {
		return err
	}
	script := h.Script(scriptSettings(program, w.Config))
	if old, err := os.ReadFile(w.gitScript(h)); err == nil && bytes.Equal(old, script) {
		return nil
	}
	return w.Repo.WriteState(githook.ScriptDir+"/"+h.Name, script, false)
}

// scriptSettings are what the scripts need to know of the settings.
func scriptSettings(program string, c config.Config) githook.Settings {
	return githook.Settings{Program: program, Ref: c.Ref, WithPush: c.WithPush}
}

// refreshGitScripts writes the settings as they are now into the scripts that are there.
func refreshGitScripts(repo *git.Repo, c config.Config) error {
	program, err := install.Program()
	if err != nil {
		return nil // doctor says so
	}
	for _, h := range githook.All {
		old, err := os.ReadFile(filepath.Join(repo.CommonDir, "reverie", githook.ScriptDir, h.Name))
		if err != nil { // not installed
			continue
		}
		if script := h.Script(scriptSettings(program, c)); !bytes.Equal(old, script) {
			if err := repo.WriteState(githook.ScriptDir+"/"+h.Name, script, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// gitHookDirs are the folders in which a section of ours may be: where git looks now, and where it does without a setting.
func (w *workspace) gitHookDirs(ctx context.Context) ([]string, error) {
	place, err := w.hookPlace(ctx)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(w.Repo.CommonDir, "hooks")
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
		found = append(found, unfinished(dir)...)
		for _, h := range githook.All {
			path := filepath.Join(dir, h.Name)
			if !githook.HasSection(path) {
				continue
			}
			found = append(found, artefact{what: "the reverie section in " + path, remove: func(context.Context) error { return h.Remove(dir) }})
		}
	}
	return found, nil
}

// mention is a file in which a person wrote calls of our part of hooks.
type mention struct {
	file  string
	hooks []string
}

// mentions finds the lines that installGitHooks tells to add, in the files of programs that have the hooks in their hands and in
// hooks outside of our section.
func (w *workspace) mentions(p hookPlace) (found []mention) {
	var files []string
	dirs := []string{p.dir, filepath.Dir(p.dir), filepath.Join(w.Repo.CommonDir, "hooks")}
	if w.Repo.WorkTree != "" {
		dirs = append(dirs, filepath.Join(w.Repo.WorkTree, ".husky"))
	}
	for _, dir := range dirs {
		for _, h := range githook.All {
			files = append(files, filepath.Join(dir, h.Name))
		}
	}
	if w.Repo.WorkTree != "" {
		for _, m := range hookManagers {
			for _, name := range m.files {
				local := strings.Replace(name, "lefthook.", "lefthook-local.", 1)
				files = append(files, filepath.Join(w.Repo.WorkTree, filepath.FromSlash(name)), filepath.Join(w.Repo.WorkTree, filepath.FromSlash(local)))
			}
		}
		files = append(files, filepath.Join(w.Repo.WorkTree, ".pre-commit-config.yaml"))
	}
	seen := map[string]bool{}
	for _, path := range files {
		if info, err := os.Stat(path); seen[path] || err != nil || !info.Mode().IsRegular() || info.Size() > maxHookFile {
			continue
		}
		seen[path] = true
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if names := githook.Called(text); len(names) > 0 {
			found = append(found, mention{path, names})
		}
	}
	return found
}

// maxHookFile is how long a file may be that is looked into for calls of our part of hooks, in bytes.
const maxHookFile = 1 << 20

// tellMentions names the files whose lines a person wrote and must take out.
func (w *workspace) tellMentions(ctx context.Context) {
	place, err := w.hookPlace(ctx)
	if err != nil {
		return
	}
	for _, m := range w.mentions(place) {
		w.env.Say("%s still has the lines that you added for %s; they do nothing by now", m.file, strings.Join(m.hooks, ", "))
	}
}

// examineByHand looks whether hooks that we do not touch call our part.
func (w *workspace) examineByHand(place hookPlace) examined {
	called := map[string]bool{}
	var files, calls, missing []string
	for _, m := range w.mentions(place) {
		files = append(files, m.file)
		for _, name := range m.hooks {
			called[name] = true
		}
	}
	for _, h := range githook.All {
		switch {
		case called[h.Name]:
			calls = append(calls, h.Name)
		case w.hasGitScript(h):
			missing = append(missing, h.Name)
		}
	}
	row := examined{What: "git hooks", State: stateOK}
	switch {
	case len(calls) == 0:
		row.Detail = place.avoid + ": none that calls Reverie was found"
	case len(missing) == 0:
		row.Detail = fmt.Sprintf("%d by lines that you added, in %s", len(calls), strings.Join(files, ", "))
	default:
		row.Detail = fmt.Sprintf("%s: %s called by lines that you added, not %s", place.avoid, strings.Join(calls, ", "), strings.Join(missing, ", "))
	}
	if len(missing) > 0 {
		row.State, row.Fix = stateNote, "reverie init --git-hooks says what to add"
	}
	return row
}

// examineGitHooks looks at what was installed of git's hooks, for doctor.
func (w *workspace) examineGitHooks(ctx context.Context) []examined {
	row := examined{What: "git hooks", State: stateOK, Detail: "not installed"}
	broken := func(err error) []examined {
		row.State, row.Detail = stateBroken, err.Error()
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
	passing := errors.Is(err, install.ErrPassing) // then the scripts cannot be compared
	if err != nil && !passing {
		return broken(err)
	}
	sections, elsewhere, old := 0, 0, 0
	for _, h := range githook.All {
		for _, dir := range dirs {
			has := githook.HasSection(filepath.Join(dir, h.Name))
			switch {
			case has && dir == dirs[0]:
				sections++
			case has:
				elsewhere++
			}
		}
		if script, err := os.ReadFile(w.gitScript(h)); err == nil {
			if !passing && !bytes.Equal(script, h.Script(scriptSettings(program, w.Config))) {
				old++
			}
			if changed, err := h.Install(dirs[0], true); err == nil && changed && place.avoid == "" {
				old++
			}
		} else if githook.HasSection(filepath.Join(dirs[0], h.Name)) {
			old++
		}
	}
	_, err = os.Lstat(filepath.Join(w.State, githook.LinksFile))
	row.mend = func(ctx context.Context) error {
		_, err := w.installGitHooks(ctx, gitHookOptions{})
		return err
	}
	row.Fix = "reverie init --git-hooks"
	switch {
	case elsewhere > 0 && sections == 0:
		row.State, row.Detail, row.mend = stateBroken, fmt.Sprintf("installed in %s, but git looks in %s", dirs[len(dirs)-1], place.dir), nil
		row.Fix = "git config --show-origin core.hooksPath says why; 'reverie init --git-hooks' says what to add there"
	case sections > 0 && (old > 0 || err != nil):
		row.State, row.Detail = stateBroken, fmt.Sprintf("not as this version of Reverie writes them, in %s", place.dir)
	case sections > 0:
		row.Detail, row.Fix, row.mend = fmt.Sprintf("%d in %s", sections, place.dir), "", nil
	case place.avoid != "" && old > 0:
		row.State, row.Detail = stateBroken, "what the hooks call is not as this version of Reverie writes it"
	case place.avoid != "" && w.hasGitScript(githook.All[0]):
		row = w.examineByHand(place)
	default:
		row.Fix, row.mend = "", nil
	}
	return []examined{row}
}

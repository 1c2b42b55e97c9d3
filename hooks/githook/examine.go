package githook

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/git"
)

// Report describes the installation of our part of a repository's hooks.
type Report struct {
	Place     Place
	Own       string // git's own folder of hooks
	Sections  int    // in git's folder for hooks
	Elsewhere int    // outside of it
	Outdated  int    // sections and scripts of other versions
	NoLinks   bool   // the file to which scripts append is gone
	Scripts   bool   // the first script is installed

	Configured int    // in git's configuration
	Disabled   int    // of those
	Ignored    string // the version of a git that ignores those, else ""
}

// Examine checks the hooks of a repository. Without a program in s, it does not compare scripts.
func Examine(ctx context.Context, repo *git.Repo, s Settings) (Report, error) {
	place, err := FindPlace(ctx, repo)
	if err != nil {
		return Report{}, err
	}
	dirs := place.Dirs(repo)
	r := Report{Place: place, Own: dirs[len(dirs)-1], Scripts: All[0].HasScript(repo)}
	mentions := place.Mentions(repo)
	all, err := git.ConfiguredHooks(ctx, repo)
	if err != nil {
		return Report{}, err
	}
	if r.Configured = len(Configured(all)); r.Configured > 0 {
		is, does, err := git.ConfiguresHooks(ctx)
		if err != nil {
			return Report{}, err
		}
		if !does {
			r.Ignored = is
		}
	}
	for _, h := range All {
		if all[git.OwnHook(h.Name)].Disabled {
			r.Disabled++
		}
		here := HasSection(filepath.Join(dirs[0], h.Name))
		if here {
			r.Sections++
		}
		for _, dir := range dirs[1:] {
			if HasSection(filepath.Join(dir, h.Name)) {
				r.Elsewhere++
			}
		}
		script, err := os.ReadFile(h.ScriptFile(repo))
		if err != nil {
			if here || h.defined(all) {
				r.Outdated++
			}
			continue
		}
		if s.Program != "" && !bytes.Equal(script, h.Script(s)) {
			r.Outdated++
		}
		if r.Configured > 0 {
			if h.stands(all) == mentioned(mentions, h.Name) {
				r.Outdated++
			}
		} else if changed, err := h.Install(dirs[0], true); err == nil && changed && place.Avoid == "" {
			r.Outdated++
		}
	}
	_, err = os.Lstat(filepath.Join(repo.CommonDir, "reverie", LinksFile))
	r.NoLinks = err != nil
	return r, nil
}

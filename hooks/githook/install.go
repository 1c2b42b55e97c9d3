package githook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// InstallOptions are the inputs of Install.
type InstallOptions struct {
	Settings
	Asked bool // also install the hooks that need a request
	Dry   bool // change nothing
}

// Installed is the result of Install.
type Installed struct {
	Dir       string   `json:"dir"`       // git's folder for hooks, or the clone's configuration
	Installed []string `json:"installed"` // have our section, or would
	Left      []Left   `json:"left"`      // stay as they are

	Changed []string `json:"-"` // got a section, or would
	Place   Place    `json:"-"`
}

// Left is a hook that Install leaves alone.
type Left struct {
	Hook string `json:"hook"`
	Why  string `json:"why"`
	Line string `json:"line"` // to be added by a person
}

// Install updates the scripts of a repository and the sections that call them.
func Install(ctx context.Context, repo *git.Repo, o InstallOptions) (*Installed, error) {
	place, err := FindPlace(ctx, repo)
	if err != nil {
		return nil, err
	}
	if !o.Dry {
		unlock, err := repo.State().Lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	done := &Installed{Dir: place.Dir, Installed: []string{}, Left: []Left{}, Place: place}
	_, inConfig, err := git.ConfiguresHooks(ctx)
	if err != nil {
		return nil, err
	}
	configured, err := git.ConfiguredHooks(ctx, repo)
	if err != nil {
		return nil, err
	}
	if inConfig {
		done.Dir = filepath.Join(repo.CommonDir, "config")
	}
	mentions := place.Mentions(repo)
	for _, h := range All {
		if h.Asked && !o.Asked && !h.HasScript(repo) {
			continue
		}
		if !o.Dry {
			if err := h.writeScript(repo, o.Settings); err != nil {
				return nil, err
			}
		}
		if inConfig && !mentioned(mentions, h.Name) {
			if err := h.moveToConfig(ctx, repo, place, configured, done, o.Dry); err != nil {
				return nil, fmt.Errorf("git hook %s: %w", h.Name, err)
			}
			continue
		}
		if h.defined(configured) && !o.Dry { // a newer git would run it twice
			if err := h.unconfigure(ctx, repo); err != nil {
				return nil, err
			}
		}
		if place.Avoid != "" {
			done.Left = append(done.Left, Left{h.Name, place.Avoid, h.Snippet()})
			continue
		}
		changed, err := h.Install(place.Dir, o.Dry)
		switch {
		case errors.Is(err, ErrRefused):
			done.Left = append(done.Left, Left{h.Name, err.Error(), h.Snippet()})
			continue
		case err != nil:
			return nil, fmt.Errorf("git hook %s: %w", h.Name, err)
		case changed:
			done.Changed = append(done.Changed, h.Name)
		}
		done.Installed = append(done.Installed, h.Name)
	}
	return done, nil
}

// moveToConfig defines our hook in git's configuration, and removes its sections from files.
func (h Hook) moveToConfig(ctx context.Context, repo *git.Repo, place Place, configured map[string]git.ConfiguredHook, done *Installed, dry bool) error {
	for _, dir := range place.Dirs(repo) {
		if !HasSection(filepath.Join(dir, h.Name)) || dry {
			continue
		}
		err := h.Remove(dir)
		if errors.Is(err, ErrRefused) { // it would run twice
			done.Left = append(done.Left, Left{h.Name, err.Error(), h.Snippet()})
			return nil
		}
		if err != nil {
			return err
		}
	}
	done.Installed = append(done.Installed, h.Name)
	if h.stands(configured) {
		return nil
	}
	done.Changed = append(done.Changed, h.Name)
	if dry {
		return nil
	}
	return h.configure(ctx, repo)
}

func mentioned(all []Mention, hook string) bool {
	return slices.ContainsFunc(all, func(m Mention) bool { return slices.Contains(m.Hooks, hook) })
}

// ScriptFile returns the path of our script for a hook.
func (h Hook) ScriptFile(repo *git.Repo) string {
	return filepath.Join(repo.CommonDir, "reverie", ScriptDir, h.Name)
}

// HasScript reports whether our script for a hook is installed.
func (h Hook) HasScript(repo *git.Repo) bool {
	_, err := os.Lstat(h.ScriptFile(repo))
	return err == nil
}

// writeScript updates our script for a hook, and makes the file to which it appends.
func (h Hook) writeScript(repo *git.Repo, s Settings) error {
	state, err := repo.State().Dir()
	if err != nil {
		return err
	}
	links, err := file.Open(filepath.Join(state, LinksFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|file.NoFollow, 0o600)
	if err != nil {
		return err
	}
	if err := links.Close(); err != nil {
		return err
	}
	script := h.Script(s)
	if old, err := os.ReadFile(h.ScriptFile(repo)); err == nil && bytes.Equal(old, script) {
		return nil
	}
	return repo.State().Write(ScriptDir+"/"+h.Name, script, false)
}

// Refresh writes the settings into the scripts that are installed.
func Refresh(repo *git.Repo, s Settings) error {
	for _, h := range All {
		if !h.HasScript(repo) {
			continue
		}
		if err := h.writeScript(repo, s); err != nil {
			return err
		}
	}
	return nil
}

// Runs reports whether a hook calls our script: by our section, by a line that a person added, or
// by git's configuration.
func (h Hook) Runs(ctx context.Context, repo *git.Repo) bool {
	place, err := FindPlace(ctx, repo)
	if err != nil {
		return false
	}
	if HasSection(filepath.Join(place.Dirs(repo)[0], h.Name)) || mentioned(place.Mentions(repo), h.Name) {
		return true
	}
	all, err := git.ConfiguredHooks(ctx, repo)
	if err != nil || !h.stands(all) || all[git.OwnHook(h.Name)].Disabled {
		return false
	}
	_, does, err := git.ConfiguresHooks(ctx)
	return err == nil && does
}

// Since git 2.54 the configuration of a clone defines hooks too, and git runs them beside those in
// files. There our part is a hook of its own, and no file is touched: not that of another program,
// and none that core.hooksPath names.

// command returns the shell code of our hook in the configuration. Git runs it at the top of the
// work tree, appends the arguments, and sets GIT_DIR where that is not .git. The code survives a
// move of the clone, and does nothing if our script is gone.
func (h Hook) command() string {
	return `reverie_dir=.git/reverie; [ -z "${GIT_DIR-}" ] && [ -d "$reverie_dir" ] || reverie_dir=$(git rev-parse --git-common-dir)/reverie; ` +
		fmt.Sprintf(`[ ! -f "$reverie_dir/%[1]s/%[2]s" ] || . "$reverie_dir/%[1]s/%[2]s" || :`, ScriptDir, h.Name)
}

// defined reports whether the configuration defines our hook, or a part of it.
func (h Hook) defined(all map[string]git.ConfiguredHook) bool {
	is := all[git.OwnHook(h.Name)]
	return is.Command != "" || len(is.Events) > 0
}

// stands reports whether the configuration defines our hook as configure does.
func (h Hook) stands(all map[string]git.ConfiguredHook) bool {
	is := all[git.OwnHook(h.Name)]
	return is.Command == h.command() && slices.Equal(is.Events, []string{h.Name})
}

// configure defines our hook in the configuration of the clone. Git dies of an event without a
// command, so the command is there first.
func (h Hook) configure(ctx context.Context, repo *git.Repo) error {
	for _, kv := range [][2]string{{"command", h.command()}, {"event", h.Name}} {
		if _, err := repo.Git(ctx, nil, "config", "--local", "--replace-all", "hook."+git.OwnHook(h.Name)+"."+kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// unconfigure removes our hook from the configuration of the clone.
func (h Hook) unconfigure(ctx context.Context, repo *git.Repo) error {
	for _, part := range []string{"event", "command"} {
		_, err := repo.Git(ctx, nil, "config", "--local", "--unset-all", "hook."+git.OwnHook(h.Name)+"."+part)
		if failed, ok := err.(*git.Error); err != nil && (!ok || failed.Code != 5) { // 5: not set
			return err
		}
	}
	return nil
}

// Unconfigure removes our hooks from the configuration of the clone.
func Unconfigure(ctx context.Context, repo *git.Repo) error {
	for _, h := range All {
		if err := h.unconfigure(ctx, repo); err != nil {
			return err
		}
	}
	return nil
}

// Configured lists our hooks in the configuration.
func Configured(all map[string]git.ConfiguredHook) (names []string) {
	for _, h := range All {
		if h.defined(all) {
			names = append(names, "hook."+git.OwnHook(h.Name))
		}
	}
	return names
}

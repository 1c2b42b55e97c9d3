package githook

import (
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/internal/git"
)

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

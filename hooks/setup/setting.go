package setup

import (
	"cmp"
	"context"
	"errors"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/git"
)

// Setting is one setting to change.
type Setting struct {
	Key, Value string
	User       bool   // in the user's own settings, whatever Key is
	Caller     string // the agent behind a tool, or ""
}

// Set writes the setting for the repository of a folder, and returns the changed file. For a person
// it reads no other settings, so that it can repair a file that does not load.
func (s Setting) Set(ctx context.Context, dir string) (file string, err error) {
	// Settings govern decisions without a person, the context of agents, and the kept data.
	if cmp.Or(s.Caller, clone.Shell()) != "" {
		if c, err := config.Load(config.UserFile()); err != nil || !c.AgentsDecide {
			return "", clone.WantPerson(s.Caller, "config "+s.Key)
		}
	}
	if s.User || config.Own(s.Key, s.Value) {
		if file = config.UserFile(); file == "" {
			return "", errors.New("there is no home directory for your settings")
		}
	} else {
		repo, err := git.FindCached(ctx, dir)
		if err != nil {
			return "", err
		}
		state, err := repo.State().Dir()
		if err != nil {
			return "", err
		}
		file = clone.SettingsFile(state)
	}
	return file, config.Set(file, s.Key, s.Value)
}

// RefreshScripts updates the scripts of git's hooks, if there are any, from the settings. Faults of
// the settings are for the commands that need these.
func RefreshScripts(ctx context.Context, dir string) error {
	repo, err := git.FindCached(ctx, dir)
	if err != nil {
		return nil // the user's settings can be set anywhere
	}
	c, err := config.Load(config.UserFile(), clone.SettingsFile(clone.StateOf(repo)))
	if err != nil {
		return nil
	}
	program, err := Program()
	if err != nil {
		return nil // doctor reports it
	}
	return githook.Refresh(repo, ScriptSettings(program, c))
}

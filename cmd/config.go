package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func configCommand(env *Env) *cli.Command {
	var user bool
	return &cli.Command{
		Name:      "config",
		Usage:     "list or change settings",
		ArgsUsage: "[KEY [VALUE]]",
		Description: "A value is TOML, such as 3, [\"said\"] or a bare word. It applies to this clone, or with --user to\n" +
			"all your repositories. A team can restrict both in reverie.toml on the memory branch.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "user", Usage: "use your own settings, for every repository", Destination: &user}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 2 {
				return exit.Usage(`quote the value: reverie config accept '["said"]'`, "config takes at most a key and a value")
			}
			return runConfig(c.Context, env, c.Args().Get(0), c.Args().Get(1), c.NArg() == 2, user)
		},
	}
}

func runConfig(ctx context.Context, env *Env, key, value string, set, user bool) error {
	if set {
		return setConfig(ctx, env, key, value, user)
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	c := w.Config
	err = w.Book.View(ctx, func(v *record.View) error {
		c, err = w.Restrict(ctx, v)
		return err
	})
	if err != nil && !errors.Is(err, gitstore.ErrNoStore) {
		return err
	}
	found := false
	for _, s := range c.Settings() {
		if key != "" && s.Key != key {
			continue
		}
		found = true
		switch {
		case env.JSON:
			value, err := plainValue(s.Value)
			if err != nil {
				return fmt.Errorf("setting %s: %w", s.Key, err)
			}
			if err := env.Object(settingJSON{s.Key, value, s.Origin, s.Help}); err != nil {
				return err
			}
		case key != "":
			env.Print("%s\n", s.Value)
		default:
			env.Lay(term.NarrowHang, term.Span("", s.Key+" = "+s.Value+"  "), term.Span(term.Dim, "# "+s.Origin+": "+s.Help))
		}
	}
	if !found {
		return noSetting(key)
	}
	return nil
}

func noSetting(key string) error {
	return exit.Usage("'reverie config' lists the settings", "%s: it is not a setting", key)
}

// plainValue is the value of a TOML text.
func plainValue(text string) (any, error) {
	var parsed struct{ V any }
	err := toml.Unmarshal([]byte("V = "+text), &parsed)
	return parsed.V, err
}

type settingJSON struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // a list, a number or a text
	Origin string `json:"origin"`
	Help   string `json:"help"`
}

// setConfig writes one setting. For a person it reads no others, so that it can mend a file that
// does not load.
func setConfig(ctx context.Context, env *Env, key, value string, user bool) error {
	if !slices.ContainsFunc(config.Default().Settings(), func(s config.Setting) bool { return s.Key == key }) {
		return noSetting(key)
	}
	// settings govern decisions without a person, the context of agents, and the kept data
	if env.agentShell() != "" {
		if c, err := config.Load(config.UserFile()); err != nil || !c.AgentsDecide {
			return clone.WantPerson(env.caller, "config "+key)
		}
	}
	file := config.UserFile()
	user = user || config.Own(key)
	if user && file == "" {
		return errors.New("there is no home directory for your settings")
	}
	if !user {
		repo, err := git.FindCached(ctx, env.Dir)
		if err != nil {
			return err
		}
		state, err := repo.StateDir()
		if err != nil {
			return err
		}
		file = clone.SettingsFile(state)
	}
	if err := config.Set(file, key, value); err != nil {
		return err // an invalid value is a usage error
	}
	env.Say("set %s in %s", key, file)
	tellLastWord(ctx, env, key, file)
	return tellGitScripts(ctx, env)
}

// tellLastWord says where something else than the file has the last word on a key.
func tellLastWord(ctx context.Context, env *Env, key, file string) {
	w, err := env.open(ctx)
	if err != nil || w.Narrow(ctx) != nil {
		return // whatever needs the settings says why
	}
	for _, s := range w.Settings.Config.Settings() {
		if s.Key == key && s.Origin != file && s.Origin != "default" {
			env.Say("here it stays %s, set by %s", s.Value, s.Origin)
		}
	}
}

// tellGitScripts brings the scripts of git's hooks up to date with the settings, where there are
// any.
func tellGitScripts(ctx context.Context, env *Env) error {
	repo, err := git.FindCached(ctx, env.Dir)
	if err != nil {
		return nil // the user's settings can be set anywhere
	}
	c, err := config.Load(config.UserFile(), clone.SettingsFile(filepath.Join(repo.CommonDir, "reverie")))
	if err != nil {
		return nil // whatever needs the settings says why
	}
	program, err := setup.Program()
	if err != nil {
		return nil // doctor says so
	}
	return githook.Refresh(repo, setup.ScriptSettings(program, c))
}

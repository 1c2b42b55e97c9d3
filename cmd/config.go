package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func configCommand(env *Env) *cli.Command {
	var user, changed bool
	return &cli.Command{
		Name:      "config",
		Usage:     "list or change settings",
		ArgsUsage: "[KEY [VALUE]]",
		Description: "A value is TOML, such as 3, [\"said\"] or a bare word. It applies to this clone, or with --user to\n" +
			"all your repositories. A team can restrict both in reverie.toml on the memory branch.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "user", Usage: "use your own settings, for every repository", Destination: &user},
			&cli.BoolFlag{Name: "changed", Usage: "list only settings that differ from their defaults", Destination: &changed},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 2 {
				return exit.Usage(`quote the value: reverie config accept '["said"]'`, "config takes at most a key and a value")
			}
			if err := checkSetting(c.Args().First()); err != nil {
				return err
			}
			if c.NArg() == 2 {
				return setConfig(c.Context, env, setup.Setting{Key: c.Args().First(), Value: c.Args().Get(1), User: user})
			}
			return env.with(c.Context, func(w *workspace) error { return runConfig(c.Context, w, c.Args().First(), changed) })
		},
	}
}

// checkSetting returns an error if a key is no setting. It names the nearest one.
func checkSetting(key string) error {
	var keys []string
	for _, s := range config.Default().Settings() {
		keys = append(keys, s.Key)
	}
	if key == "" || slices.Contains(keys, key) {
		return nil
	}
	next := "'reverie config' lists the settings"
	if near := help.Nearest(keys, key); near != "" {
		next = fmt.Sprintf("did you mean %s? %s", near, next)
	}
	return exit.Usage(next, "%s: it is not a setting", key)
}

func runConfig(ctx context.Context, w *workspace, key string, changed bool) error {
	c := w.Config
	err := w.Book.View(ctx, func(v *record.View) (err error) {
		c, err = w.Restrict(ctx, v)
		return err
	})
	if err != nil && !errors.Is(err, gitstore.ErrNoStore) {
		return err
	}
	found := slices.DeleteFunc(c.Settings(), func(s config.Setting) bool {
		return key != "" && s.Key != key || changed && s.Plain
	})
	if len(found) == 0 {
		w.env.Say("every setting has its default")
	}
	group := ""
	if !w.env.JSON {
		slices.SortStableFunc(found, func(a, b config.Setting) int { return strings.Compare(a.Group(), b.Group()) })
	}
	return rows(w.env, found, func(s config.Setting) settingJSON {
		return settingJSON{s.Key, plainValue(s.Value), s.Origin, s.Help}
	}, func(s config.Setting) {
		if key != "" {
			w.env.Print("%s\n", s.Value)
		} else {
			if s.Group() != group {
				group = s.Group()
				w.env.Print("%s\n", w.env.Paint(term.Bold, "# "+group))
			}
			w.env.Lay(term.NarrowHang, term.Span("", s.Key+" = "+s.Value+"  "), term.Span(term.Dim, "# "+s.Origin+": "+s.Help))
		}
	})
}

// plainValue is the value of a TOML text that the program wrote.
func plainValue(text string) any {
	var parsed struct{ V any }
	_ = toml.Unmarshal([]byte("V = "+text), &parsed)
	return parsed.V
}

type settingJSON struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // a list, a number or a text
	Origin string `json:"origin"`
	Help   string `json:"help"`
}

// setConfig writes one setting.
func setConfig(ctx context.Context, env *Env, o setup.Setting) error {
	o.Caller = env.caller
	file, err := o.Set(ctx, env.Dir)
	if err != nil {
		return err // an invalid value is a usage error
	}
	env.Say("set %s in %s", o.Key, file)
	tellLastWord(ctx, env, o.Key, file)
	read := o.Key == "context.guards" || o.Key == "agents.shorten" // by clients, without asking us
	if w, err := env.open(ctx); read && err == nil && w.Started() {
		refreshGuards(ctx, w)
	}
	return setup.RefreshScripts(ctx, env.Dir)
}

// tellLastWord says where something else than the file has the last word on a key.
func tellLastWord(ctx context.Context, env *Env, key, file string) {
	w, err := env.open(ctx)
	if err != nil || w.Narrow(ctx) != nil {
		return // whatever needs the settings says why
	}
	for _, s := range w.Settings.Config.Settings() {
		if s.Key == key && !strings.Contains(s.Origin, file) && s.Origin != "default" {
			env.Say("here it stays %s, set by %s", s.Value, s.Origin)
		}
	}
}

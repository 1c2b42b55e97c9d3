package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

func guardCommand(env *Env) *cli.Command {
	var edits bool
	return &cli.Command{
		Name:      "guard",
		Usage:     "list the memories that act at calls of tools",
		ArgsUsage: "[on|off|test COMMAND|test --edit FILE]",
		Description: "A guard acts when an agent is about to run a command or change a file. It tells the agent its\n" +
			"statement, holds the call once, asks you, or denies the call. A lesson from a failure is told before\n" +
			"its command. off stops all guards in this clone. test takes a command as you type it, or a quoted\n" +
			"line: 'cd web && npm ci'.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "edit", Usage: "test a change of a file instead of a command", Destination: &edits}},
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			switch {
			case len(words) == 0:
				return env.with(c.Context, func(w *workspace) error { return runGuards(c.Context, w, nil) })
			case len(words) == 1 && (words[0] == "on" || words[0] == "off"):
				return switchGuards(c.Context, env, words[0] == "on")
			case words[0] == "test" && len(words) > 1:
				call := hooks.Call{Tool: hooks.Bash, Command: hooks.CommandLine(words[1:])}
				if edits {
					call = hooks.Call{Tool: hooks.Edit, Files: words[1:]}
				}
				return env.with(c.Context, func(w *workspace) error { return runGuards(c.Context, w, &call) })
			}
			return exit.Usage("reverie guard test git push --force", "guard takes on, off, or test and a command")
		},
	}
}

// switchGuards turns the guards of this clone on or off, with the hooks that they need.
func switchGuards(ctx context.Context, env *Env, on bool) error {
	if err := setConfig(ctx, env, setup.Setting{Key: "context.guards", Value: fmt.Sprint(on)}); err != nil {
		return err
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	refreshGuards(ctx, w)
	if w.Config.Guards {
		env.Say("guards act again in this clone")
	} else {
		env.Say("no guard acts in this clone; to turn them on: reverie guard on")
	}
	return nil
}

// guardJSON is one pattern of calls at which a memory acts.
type guardJSON struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Text     string   `json:"text"`
	On       string   `json:"on"`
	Strength string   `json:"strength"`
	Paths    []string `json:"paths"`
	Lesson   bool     `json:"lesson"` // it tells about a failure of the command
	Stale    bool     `json:"stale,omitempty"`
	brief.Heed
}

// runGuards lists the guards, or those that match a call.
func runGuards(ctx context.Context, w *workspace, call *hooks.Call) error {
	table, err := brief.ReadGuards(ctx, w.Reader)
	if err != nil {
		return err
	}
	rules := table.Rules()
	if call != nil {
		dir, err := filepath.Abs(w.env.Dir)
		if err != nil {
			return err
		}
		rules = table.Match(*call, guard.Place{Top: w.Repo.WorkTree, Dir: dir}, w.env.Now())
	}
	heeds := brief.KeptHeeds(w.Reader, brief.Ledger{Repo: w.Repo}.All(0), table)
	err = rows(w.env, rules, func(r guard.Rule) guardJSON {
		return guardJSON{r.ID, string(r.Kind), r.Text, r.On, string(r.Strength), wire.List(r.Paths), r.Lesson, r.Stale, heeds[r.ID]}
	}, func(r guard.Rule) { tellGuard(w.env, r, heeds[r.ID]) })
	if err != nil {
		return err
	}
	switch {
	case !w.Config.Guards:
		w.env.Say("guards are off here: reverie guard on")
	case call == nil && len(rules) == 0:
		w.env.Say("no memory has a guard; to add one: reverie remember --guard 'Bash(npm *)' \"use pnpm, never npm\"")
	}
	if call != nil && len(rules) == 0 {
		return exit.New(exit.Negative, errors.New("no guard acts at this call"), "")
	}
	return nil
}

func tellGuard(env *Env, r guard.Rule, h brief.Heed) {
	act := string(r.Strength)
	if r.Lesson {
		act = "lesson"
	}
	env.Hit(term.Hit{Mark: " ", ID: r.ID, Kind: act, Statement: r.Text})
	line := r.On
	if len(r.Paths) > 0 && !r.Lesson {
		line += " in " + strings.Join(r.Paths, ", ")
	}
	if h.Acted > 0 {
		line += " · " + h.String()
	}
	env.Under(term.Span(term.Dim, term.Visible(line)))
	if rather, why := h.Advice(r.Strength); rather != "" && !r.Lesson {
		env.Under(term.Span("", why+" repeatedly; next: reverie edit "+r.ID[:8]+" --strength "+string(rather)))
	}
}

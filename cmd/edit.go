package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func editCommand(env *Env) *cli.Command {
	var o remember.Edit
	var guards, moved cli.StringSlice
	return &cli.Command{
		Name:      "edit",
		Usage:     "change a memory or a pending operation",
		ArgsUsage: "ID [TEXT|-]",
		Description: "Without TEXT, your editor opens the whole file: fields between the +++ lines, then the statement,\n" +
			"then why and how. The id stays. For a new claim, remember it and forget the old one.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "change its kind to `KIND`", Destination: &o.Kind},
			&cli.IntFlag{Name: "take", Usage: "keep text `NUMBER` of a contested memory, as numbered by 'reverie conflicts'", Destination: &o.Take},
			&cli.StringFlag{Name: "status", Usage: "change its status to `STATUS`; active restores a retired memory", Destination: &o.Status},
			&cli.StringSliceFlag{Name: "guard", Usage: "act when an agent calls `TOOL(PATTERN)`, instead of at its present calls; may be repeated", Destination: &guards},
			&cli.StringFlag{Name: "strength", Usage: "set the strength of its guards to `STRENGTH`: say, hold (the default with --guard), ask or deny", Destination: &o.Strength},
			&cli.BoolFlag{Name: "no-guard", Usage: "act at no call", Destination: &o.NoGuard},
			&cli.StringSliceFlag{Name: "moved", Usage: "follow a move of code, `OLD=NEW` from the top of the repository, in its paths and guards; may be repeated", Destination: &moved},
			&cli.BoolFlag{Name: "anchor", Usage: "anchor it to the current code, because it still holds", Destination: &o.Anchor},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() < 1 || c.NArg() > 2 {
				return exit.Usage("quote the text: reverie edit ID \"new text\"", "edit takes an id and at most one text")
			}
			o.Guards, o.Moved = guards.Value(), moved.Value()
			if c.NArg() == 2 {
				text := c.Args().Get(1)
				o.Text = &text
			}
			if o.Take != 0 && o.Text != nil {
				return exit.Usage("", "give a text or --take, not both")
			}
			return runEdit(c.Context, env, c.Args().First(), o)
		},
	}
}

func runEdit(ctx context.Context, env *Env, id string, o remember.Edit) error {
	w, err := env.openToDecide(ctx, "edit", id)
	if err != nil {
		return err
	}
	if o.Text != nil {
		text, err := text(env, *o.Text)
		if err != nil {
			return err
		}
		o.Text = &text
	}
	o.Editor = func(m record.Memory) (record.Memory, error) { return editor(ctx, w, m) }
	done, err := keeper(w).Edit(ctx, id, o)
	if err != nil {
		return err
	}
	m := done.Memory
	switch {
	case done.Same:
		env.Say("nothing changed")
	case env.JSON && done.Operation != nil:
		err = env.Object(wire.OfOperation(*done.Operation, ""))
	case env.JSON:
		err = env.Object(wire.OfMemory(m))
	default:
		note := ""
		if done.Operation != nil {
			note = "waits"
		}
		line(w, "~", term.Green, m, note)
		tell.Edited(&env.Terminal, done.Was, m)
	}
	if err != nil {
		return err
	}
	if done.Redacted > 0 {
		env.Warn("%s", remember.Redaction(done.Redacted, m.ID))
	}
	if was, now := done.Was.Trigger(), m.Trigger(); !slices.Equal(was.Guards, now.Guards) || len(now.Guards) > 0 && m.Text != done.Was.Text {
		if tellGuards(env, m); len(now.Guards) == 0 {
			env.Say("it acts at no call any more")
		}
	}
	if done.Anchored {
		env.tellAnchors(m.Anchors)
	}
	switch {
	case !o.Anchor:
	case !done.Whole:
		env.Say("part of the code could not be searched; a statement that names the file needs no search")
	case len(m.Anchors) == 0:
		env.Say("%s names no file or symbol of the code here", m.ID[:8])
	}
	return nil
}

// editor lets the person's editor change the text form, as git lets it change a message.
func editor(ctx context.Context, w *workspace, m record.Memory) (after record.Memory, err error) {
	if !w.env.Interactive {
		return m, exit.Usage("reverie edit ID \"new text\"", "there is no terminal for an editor: give the new text")
	}
	command, passed, err := w.Repo.Config().Program(ctx, "GIT_EDITOR")
	if err != nil {
		return m, err
	}
	if passed != "" {
		w.env.Say("%s from this repository's configuration is not run; set your own: git config --global %s NAME", passed, passed)
	}
	words := strings.Fields(command) // a program and its options
	if len(words) == 0 {
		return m, exit.Usage("set one: git config --global core.editor NAME", "there is no editor")
	}
	err = term.EditFile(ctx, words, filepath.Base(m.Path()), m.Format(), func(text []byte) (bool, error) {
		after, err = record.ParseMemory(m.Path(), text)
		after.Private = m.Private
		var bad *record.FormatError
		if errors.As(err, &bad) && w.env.Ask(fmt.Sprintf("line %d: %s %s. Edit again", bad.Line, bad.Field, bad.Reason), "y") {
			return false, nil
		}
		return err == nil, err
	})
	return after, err
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/urfave/cli/v2"
)

func showCommand(env *Env) *cli.Command {
	var at string
	return &cli.Command{
		Name:      "show",
		Usage:     "show one memory, operation or skill in full",
		ArgsUsage: "ID|skills/NAME",
		Flags:     []cli.Flag{atFlag(&at)},
		Action: usage.One(func(c *cli.Context, word string) error {
			return env.paged(c.Context, func(w *workspace) error { return runShow(c.Context, w, word, at) })
		}),
	}
}

func runShow(ctx context.Context, w *workspace, id, at string) error {
	return w.ViewAt(ctx, at, func(v *record.View) error {
		if name, ok := strings.CutPrefix(id, record.SkillDir+"/"); ok {
			return showSkill(w, v, strings.TrimSuffix(name, "/SKILL.md"))
		}
		f, err := reader.Find(ctx, w.Reader, v, id)
		if errors.Is(err, record.ErrNoMemory) && at == "" {
			o, d, lost := inbox.Decided(ctx, w.learner().Inbox, v, id)
			switch {
			case lost != nil && !errors.Is(lost, record.ErrNoMemory):
				return lost
			case lost == nil && w.env.JSON:
				return w.env.Object(wire.OfDecided(o, d))
			case lost == nil:
				w.env.Say("%s", hint.OfOwn(w.env.own, tell.Decided(&w.env.Terminal, o, d)))
				return nil
			}
		}
		if err != nil {
			return err
		}
		if o := f.Operation; o != nil {
			if w.env.JSON {
				return w.env.Object(wire.OfLook(*o, "", inbox.NewViewer(w.Clone, v).Look(*o)))
			}
			tell.Operation(&w.env.Terminal, *o, "", inbox.NewViewer(w.Clone, v).Look(*o))
			return nil
		}
		if f.Unknown != nil { // because of damaged history; the memory itself is whole
			w.env.Warn("cannot tell if a model proposed it: %v", f.Unknown)
		}
		var known dossier.Dossier
		if !f.Shadow {
			if known, err = dossier.Collect(ctx, w.Reader, v, f.Memory); err != nil {
				return err
			}
			if known.Doubt != "" {
				w.env.Warn("part of what is known about it is missing: %s", known.Doubt)
			}
		}
		if w.env.JSON {
			j := wire.WithCaveats(f.Memory, f.Caveats)
			j.Models = f.ModelNames()
			return w.env.Object(wire.OfDossier(j, known))
		}
		links, err := linked(ctx, w)
		var commits []string
		if of := links[f.Memory.Source.By]; err == nil && len(of) > 0 {
			commits = githook.Lines(ctx, w.Local, of)
		}
		tell.Memory(&w.env.Terminal, f, known, commits)
		return err
	})
}

// showSkill writes a skill's file as it is.
func showSkill(w *workspace, v *record.View, name string) error {
	text, err := v.Branch().SkillText(name)
	if errors.Is(err, gitstore.ErrNotFound) {
		return fmt.Errorf("skill %s: %w", name, record.ErrNoMemory)
	}
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(map[string]string{"path": record.SkillFile{Name: name}.Path(), "text": string(text)})
	}
	w.env.Indent("", strings.TrimSuffix(string(text), "\n"))
	return nil
}

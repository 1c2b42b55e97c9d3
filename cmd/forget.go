package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type forgetOptions struct {
	reason      string
	choice      remember.Choice
	tags        cli.StringSlice
	dryRun, yes bool
}

func forgetCommand(env *Env) *cli.Command {
	var o forgetOptions
	return &cli.Command{
		Name:      "forget",
		Usage:     "retire memories",
		ArgsUsage: "--reason WHY ID…",
		Description: "Filters select memories instead of ids; a memory must match all of them. Reverie shows the selected\n" +
			"memories, asks a person, and retires only those shown. All go in one commit, which 'reverie revert'\n" +
			"undoes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "only memories learned before `TIME`: 90d, 6m, 1y, 2026-01-31", Destination: &o.choice.Older},
			kindFlag(&o.choice.Kind),
			&cli.StringSliceFlag{Name: "tag", Aliases: []string{"t"}, Usage: "only memories with this `TAG`; may be repeated, to require each", Destination: &o.tags},
			&cli.StringFlag{Name: "query", Usage: "only memories that match these `FILTERS` of recall, such as \"by:claude -since:30d path:web\"; without words", Destination: &o.choice.Query},
			&cli.StringFlag{Name: "reason", Usage: "record `WHY` they no longer hold; only --dry-run needs none", Destination: &o.reason},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
		},
		Action: func(c *cli.Context) error {
			ids := c.Args().Slice()
			o.choice.Tags = o.tags.Value()
			switch some := o.choice.Given(); {
			case some && len(ids) > 0:
				return exit.Usage("filters select among all memories", "forget takes ids or filters, not both")
			case !some && len(ids) == 0:
				return exit.Usage(`reverie forget ID --reason "the v1 client is gone"`, "forget takes ids or filters")
			case o.reason == "" && !o.dryRun:
				return exit.Usage(`reverie forget ID --reason "the v1 client is gone"`, "forget needs --reason: why they no longer hold")
			}
			return runForget(c.Context, env, ids, o)
		},
	}
}

func runForget(ctx context.Context, env *Env, ids []string, o forgetOptions) error {
	w, err := env.openToDecide(ctx, "forget", ids...)
	if err != nil {
		return err
	}
	shown := map[string]string{} // id → blob
	if len(ids) == 0 || o.dryRun {
		if shown, err = showForget(ctx, w, ids, o); err != nil || len(shown) == 0 || o.dryRun {
			return err
		}
		ids = slices.Sorted(maps.Keys(shown))
		if !o.yes && !w.env.Ask("Forget "+these(len(ids))+"?", "n") {
			return exit.New(exit.NeedsPerson, errors.New("forget: nothing was forgotten"), "to go ahead, repeat the command with --yes")
		}
	}
	f, err := keeper(w).Forget(ctx, ids, shown, o.reason)
	if err != nil {
		return err
	}
	for _, m := range f.Already {
		env.Say("already retired: %s", term.Visible(strings.Join(m.Reasons(), " ")))
	}
	for _, m := range append(f.Already, f.Gone...) {
		switch {
		case env.JSON:
			if err := env.Object(wire.OfMemory(m)); err != nil {
				return err
			}
		case len(shown) > 0: // they have been listed
		case slices.ContainsFunc(f.Already, func(a record.Memory) bool { return a.ID == m.ID }):
			line(w, "-", term.Red, m, strings.Join(m.Reasons(), " "))
		default:
			line(w, "-", term.Red, m, "retired; its text stays in history")
		}
	}
	if len(shown) > 0 {
		env.Say("%s retired; their texts stay in history", plural.Count(len(f.Gone), "memory", "memories"))
	}
	if len(f.Changed) > 0 {
		return exit.New(exit.NeedsPerson, fmt.Errorf("forget: not retired, because it changed meanwhile: %s", strings.Join(f.Changed, " ")), "see the new text: reverie show ID")
	}
	return nil
}

// showForget lists the memories that would go, by their ids or by what o chooses, and gives the
// blob of each.
func showForget(ctx context.Context, w *workspace, ids []string, o forgetOptions) (map[string]string, error) {
	chosen, err := keeper(w).Choose(ctx, ids, o.choice, w.env.Dir)
	shown := map[string]string{}
	for _, m := range chosen {
		shown[m.ID] = m.Blob
	}
	if !w.env.JSON || o.dryRun { // else the answer is what became of them
		err = errors.Join(err, rows(w.env, chosen, func(m remember.Chosen) wire.Memory { return wire.WithCaveats(m.Memory, m.Caveats) },
			func(m remember.Chosen) {
				line(w, mark(m.Memory, m.Caveats), term.Dim, m.Memory, remark(m.Memory, m.Caveats))
			}))
	}
	switch {
	case err != nil:
		return nil, err
	case len(shown) == 0:
		w.env.Say("no memory matches these filters")
	case o.dryRun:
		w.env.Say("%s would be retired", plural.Count(len(shown), "memory", "memories"))
	}
	return shown, nil
}

// these names n memories in a question.
func these(n int) string {
	if n == 1 {
		return "this one"
	}
	return "these " + plural.Count(n, "memory", "memories")
}

package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type staleOptions struct {
	check bool
	at    string
}

func staleCommand(env *Env) *cli.Command {
	var o staleOptions
	return &cli.Command{
		Name:  "stale",
		Usage: "list memories whose anchored code no longer exists at HEAD",
		Description: "A memory that names code is anchored to lines of it. Uncommitted changes do not count here. If the\n" +
			"statement still holds, 'reverie edit --anchor ID' anchors it to the current code. If not, edit or\n" +
			"forget the memory.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "exit 1 if a memory is stale", Destination: &o.check},
			atFlag(&o.at),
		},
		Action: usage.Alone(func(c *cli.Context) error {
			return env.Paged(c.Context, func() error { return runStale(c.Context, env, o) })
		}),
	}
}

type staleJSON struct {
	wire.Memory
	Gone []string `json:"gone"`
}

func runStale(ctx context.Context, env *Env, o staleOptions) error {
	found, looked, unknown := 0, 0, 0
	err := filter{at: o.at}.read(ctx, env, func(w *workspace, live []record.Memory, standings func(record.Memory) reader.Caveats) error {
		for _, m := range live {
			if len(m.Anchors) == 0 {
				continue
			}
			looked++
			s := standings(m)
			gone, doubts := w.Code.Here(ctx).Look(ctx, m)
			if len(gone) == 0 && doubts > 0 {
				unknown++
			}
			if !s.Stale {
				continue
			}
			found++
			if env.JSON {
				if err := env.Object(staleJSON{wire.WithCaveats(m, s), gone}); err != nil {
					return err
				}
				continue
			}
			line(w, "!", term.Red, m, "")
			for _, what := range gone {
				env.Under(term.Span("", term.Visible(what)))
			}
		}
		return nil
	})
	if unknown > 0 && err == nil {
		env.Say("%s whose history is missing in this clone", plural.Count(unknown, "memory is anchored to code", "memories are anchored to code"))
	}
	switch {
	case err != nil:
		return err
	case found > 0:
		env.Say("%s of %d anchored to code; if one still holds: reverie edit --anchor ID; if not: reverie forget ID --reason WHY", plural.Count(found, "memory is stale", "memories are stale"), looked)
	default:
		env.Say("nothing is stale: %s to code", plural.Count(looked, "memory is anchored", "memories are anchored"))
	}
	if found > 0 && o.check {
		return exit.Silent
	}
	return nil
}

package cmd

import (
	"context"
	"maps"
	"slices"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
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
		Usage: "list memories whose code no longer exists at HEAD",
		Description: "A memory that names code is anchored to lines of it. Uncommitted changes do not count here. If the\n" +
			"statement still holds, 'reverie edit --anchor ID' anchors it to the current code. If not, edit or\n" +
			"forget the memory. A path or guard of a memory is stale if its file or folder was deleted or moved;\n" +
			"'reverie edit --moved OLD=NEW ID' makes both follow.",
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
	Gone  []string          `json:"gone"`
	Moved map[string]string `json:"moved,omitempty"` // places of paths and guards, before and now
}

func runStale(ctx context.Context, env *Env, o staleOptions) error {
	found, looked, unknown := 0, 0, 0
	err := filter{at: o.at}.read(ctx, env, func(w *workspace, live []record.Memory, standings func(record.Memory) reader.Caveats) error {
		for _, m := range live {
			roots := guard.Roots(m)
			if len(m.Anchors)+len(roots) == 0 {
				continue
			}
			looked++
			here := w.Code.Here(ctx)
			gone, doubts := here.Look(ctx, m)
			if len(gone) == 0 && doubts > 0 {
				unknown++
			}
			s := standings(m)
			if s.Withheld && !s.Stale {
				continue
			}
			lost, moved := here.Places(ctx, roots)
			j := staleJSON{Memory: wire.WithCaveats(m, s), Gone: append(append([]string{}, gone...), lost...), Moved: moved}
			if len(j.Gone)+len(j.Moved) == 0 {
				continue
			}
			found++
			if env.JSON {
				if err := env.Object(j); err != nil {
					return err
				}
				continue
			}
			line(w, "!", term.Red, m, "")
			for _, what := range j.Gone {
				env.Under(term.Span("", term.Visible(what)))
			}
			for _, old := range slices.Sorted(maps.Keys(j.Moved)) {
				env.Under(term.Span("", term.Visible(old+" moved; next: reverie edit "+m.ID[:8]+" --moved "+hooks.Quote(old+"="+j.Moved[old]))))
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
		env.Say("%s of %d tied to code; if one still holds: reverie edit ID --anchor, or --moved OLD=NEW; if not: reverie forget ID --reason WHY", plural.Count(found, "memory is stale", "memories are stale"), looked)
	default:
		env.Say("nothing is stale: %s to code", plural.Count(looked, "memory is tied", "memories are tied"))
	}
	if found > 0 && o.check {
		return exit.Silent
	}
	return nil
}

package cmd

import (
	"context"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/urfave/cli/v2"
)

// filter selects the memories for a command that reads.
type filter struct {
	all  bool   // include retired and expired memories
	kind string // only of this kind; empty is every kind
	at   string // as the branch was at this revision; empty is now
	own  bool   // add the person's own memories
}

// flags are the options for f. Commands that are about what is in force alone leave all out.
func (f *filter) flags(all bool) []cli.Flag {
	flags := []cli.Flag{
		kindFlag(&f.kind),
		atFlag(&f.at),
	}
	if all {
		flags = append(flags, &cli.BoolFlag{Name: "all", Usage: "include retired and expired memories", Destination: &f.all})
	}
	return flags
}

func kindFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "only memories of this `KIND`", Destination: to}
}

func atFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "at", Usage: "read the memory as it was at `REV`: a commit or tag of the code or of the memory branch, ~3, @{yesterday}", Destination: to}
}

// read opens the repository and runs fn on the memories that f lets through, in the order of ids,
// and for an agent without what is withheld for who changed it. Files that cannot be read are told.
func (f filter) read(ctx context.Context, env *Env, fn func(*workspace, []record.Memory, func(record.Memory) reader.Caveats) error) error {
	if f.kind != "" {
		if _, err := remember.ParseKind(f.kind); err != nil {
			return err
		}
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	return w.ViewAt(ctx, f.at, func(all *record.View) error {
		v, err := w.ForAsker(ctx, all)
		if err != nil {
			return err
		}
		reader.ReportBad(w.Reader, v)
		if f.at == "" {
			w.tellLost(ctx)
		}
		standings, err := w.Caveats(ctx, v)
		if err != nil {
			return err
		}
		found := v.Memories()
		if f.own && f.at == "" {
			found = append(found, reader.Own(ctx, w.Reader, v)...)
		}
		found = slices.DeleteFunc(found, func(m record.Memory) bool {
			return !f.all && !m.Live(env.Now()) || f.kind != "" && string(m.Kind) != f.kind
		})
		if v != all {
			held, err := w.Held(ctx, all)
			if err != nil {
				return err
			}
			w.tellShielded(len(held))
		}
		return fn(w, found, standings)
	})
}

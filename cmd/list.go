package cmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type listOptions struct {
	filter
	filters string
	sort    string
	limit   int
}

func listCommand(env *Env) *cli.Command {
	var o listOptions
	return &cli.Command{
		Name:      "list",
		Usage:     "list memories",
		ArgsUsage: "[FILTER…]",
		Description: "A filter is one of recall's: tag:storage, by:claude, path:web, since:30d, or -tag:old. Memories must match\n" +
			"all of them.",
		Flags: append(o.flags(true), &cli.StringFlag{Name: "sort", Usage: "sort by `ORDER`: kind, new or old; the last two print dates", Value: "kind", Destination: &o.sort},
			&cli.IntFlag{Name: "n", Usage: "print at most `N` memories; 0: no limit", Destination: &o.limit}),
		Action: func(c *cli.Context) error {
			o.filters = strings.Join(c.Args().Slice(), " ")
			return env.Paged(c.Context, func() error { return runList(c.Context, env, o) })
		},
	}
}

func runList(ctx context.Context, env *Env, o listOptions) error {
	o.own = true
	return o.read(ctx, env, func(w *workspace, found []record.Memory, standings func(record.Memory) reader.Caveats) error {
		passes, err := remember.Choice{Query: o.filters}.Passes(reader.Where(w.Repo.WorkTree, env.Dir), env.Now())
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(m record.Memory) bool { return !passes(m) })
		if err := remember.Sort(found, o.sort); err != nil {
			return err
		}
		if o.limit > 0 && len(found) > o.limit {
			env.Say("%d of %d shown", o.limit, len(found))
			found = found[:o.limit]
		}
		switch {
		case len(found) > 0:
		case o.kind != "" || o.filters != "":
			env.Say("no memory matches")
		case o.all:
			env.Say("no memories yet")
		default:
			env.Say("no memories yet; --all lists retired ones")
		}
		return rows(env, found, func(m record.Memory) wire.Memory { return wire.WithCaveats(m, standings(m)) }, func(m record.Memory) {
			note := remark(m, standings(m))
			if day := m.Source.Time; o.sort != "kind" && !day.IsZero() {
				note = strings.TrimSuffix(day.Format(time.DateOnly)+"; "+note, "; ")
			}
			line(w, mark(m, standings(m)), term.Dim, m, note)
		})
	})
}

// mark and remark say what is special about a memory in a list.
func mark(m record.Memory, s reader.Caveats) string {
	switch {
	case m.Status == record.Retired:
		return "-"
	case len(s.Why) > 0:
		return "!"
	}
	return " "
}

func remark(m record.Memory, s reader.Caveats) string {
	var what []string
	switch {
	case m.Status == record.Retired:
		what = append(what, string(m.Status))
	case m.Private:
		what = append(what, "private")
	case m.Own:
		what = append(what, reader.OwnLabel)
	}
	return strings.Join(append(what, s.Why...), "; ")
}

// line draws a memory with a note on it.
func line(w *workspace, mark, colour string, m record.Memory, note string) {
	w.env.Hit(hitOf(mark, colour, m, note))
}

// hitOf returns the hit that line draws.
func hitOf(mark, colour string, m record.Memory, note string) term.Hit {
	h := term.Hit{Mark: mark, Colour: colour, ID: m.ID, Kind: string(m.Kind), Statement: m.Text, Remarks: note}
	for _, v := range m.Variants {
		h.Variants = append(h.Variants, v.Text)
	}
	return h
}

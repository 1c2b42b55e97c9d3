package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type listOptions struct {
	filter
	limit int
}

func listCommand(env *Env) *cli.Command {
	var o listOptions
	return &cli.Command{
		Name:  "list",
		Usage: "list memories",
		Flags: append(o.flags(true), &cli.IntFlag{Name: "n", Usage: "print at most `N` memories; 0: no limit", Destination: &o.limit}),
		Action: usage.Alone("to search: reverie recall QUERY", func(c *cli.Context) error {
			return env.Paged(c.Context, func() error { return runList(c.Context, env, o) })
		}),
	}
}

func runList(ctx context.Context, env *Env, o listOptions) error {
	o.own = true
	return o.read(ctx, env, func(w *workspace, found []record.Memory, standings func(record.Memory) reader.Caveats) error {
		slices.SortStableFunc(found, func(a, b record.Memory) int {
			return slices.Index(record.Kinds, a.Kind) - slices.Index(record.Kinds, b.Kind)
		})
		if o.limit > 0 && len(found) > o.limit {
			env.Say("%d of %d shown", o.limit, len(found))
			found = found[:o.limit]
		}
		switch {
		case len(found) > 0:
		case o.kind != "":
			env.Say("no memories of this kind yet")
		case o.all:
			env.Say("no memories yet")
		default:
			env.Say("no memories yet; --all lists retired ones")
		}
		for _, m := range found {
			if err := tell(w, m, standings(m)); err != nil {
				return err
			}
		}
		return nil
	})
}

// tell writes a memory as a line, or as JSON.
func tell(w *workspace, m record.Memory, s reader.Caveats) error {
	if w.env.JSON {
		return w.env.Object(wire.WithCaveats(m, s))
	}
	line(w, mark(m, s), term.Dim, m, remark(m, s))
	return nil
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

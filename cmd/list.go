package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
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
		Usage: "list what is known",
		Flags: append(o.flags(true), &cli.IntFlag{Name: "n", Usage: "at most `N`; 0 is all", Destination: &o.limit}),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usage("to search: reverie recall QUERY", "list takes no arguments")
			}
			return env.paged(c.Context, func() error { return runList(c.Context, env, o) })
		},
	}
}

func runList(ctx context.Context, env *Env, o listOptions) error {
	return o.read(ctx, env, func(w *workspace, found []record.Memory, standings func(record.Memory) standing) error {
		slices.SortStableFunc(found, func(a, b record.Memory) int {
			return slices.Index(record.Kinds, a.Kind) - slices.Index(record.Kinds, b.Kind)
		})
		if o.limit > 0 && len(found) > o.limit {
			env.say("%d of %d shown", o.limit, len(found))
			found = found[:o.limit]
		}
		switch {
		case len(found) > 0:
		case o.kind != "":
			env.say("nothing of this kind is known yet")
		case o.all:
			env.say("nothing is known yet")
		default:
			env.say("nothing is known yet; --all lists what was retired, too")
		}
		for _, m := range found {
			if err := w.tell(m, standings(m)); err != nil {
				return err
			}
		}
		return nil
	})
}

// tell writes a memory as a line, or as JSON.
func (w *workspace) tell(m record.Memory, s standing) error {
	if w.env.JSON {
		return w.env.object(standingJSON(m, s))
	}
	w.line(mark(m, s), dim, m, remark(m, s))
	return nil
}

// mark and remark say what is special about a memory in a list.
func mark(m record.Memory, s standing) string {
	switch {
	case m.Status == record.Retired:
		return "-"
	case len(s.Why) > 0:
		return "!"
	}
	return " "
}

func remark(m record.Memory, s standing) string {
	var what []string
	switch {
	case m.Status == record.Retired:
		what = append(what, string(m.Status))
	case m.Private:
		what = append(what, "private")
	}
	return strings.Join(append(what, s.Why...), "; ")
}

package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

type recallOptions struct {
	filter
	limit    int
	explain  bool
	withheld bool
}

func recallCommand(env *Env) *cli.Command {
	o := recallOptions{limit: 10}
	return &cli.Command{
		Name:      "recall",
		Usage:     "find what is known about something",
		ArgsUsage: "QUERY",
		Flags: append(o.flags(false),
			&cli.IntFlag{Name: "n", Usage: "at most `N`; 0 is all", Value: o.limit, Destination: &o.limit},
			&cli.BoolFlag{Name: "all", Usage: "what is withheld from agents too", Destination: &o.withheld},
			&cli.BoolFlag{Name: "explain", Usage: "show what each score is made of", Destination: &o.explain}),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage(`quote it: reverie recall "two words"`, "recall wants exactly one query")
			}
			return runRecall(c.Context, env, c.Args().First(), o)
		},
	}
}

func runRecall(ctx context.Context, env *Env, query string, o recallOptions) error {
	return o.read(ctx, env, func(w *workspace, live []record.Memory) error {
		if n := len(live); !o.withheld {
			live = slices.DeleteFunc(live, func(m record.Memory) bool { return w.stands(m).Withheld })
			w.tellHidden(n - len(live))
		}
		hits := recall.Search(live, query, o.limit)
		if len(hits) == 0 {
			env.say("nothing is known about that")
		}
		for _, h := range hits {
			if env.JSON {
				j := newMemoryJSON(h.Memory)
				j.Withheld = w.stands(h.Memory).reason()
				j.Score, j.Snippet = h.Score, h.Memory.Text
				if err := env.object(j); err != nil {
					return err
				}
				continue
			}
			w.line(mark(h.Memory), dim, h.Memory, w.remark(h.Memory))
			if h.Memory.Body != "" && env.Verbose {
				env.indent(column, h.Memory.Body)
			}
			if o.explain {
				env.print("%s%s\n", column, env.paint(dim, explainScore(h)))
			}
		}
		return nil
	})
}

// column is the indentation under a statement in a list.
const column = "                        "

// explainScore is a score as the sum of what each term added.
func explainScore(h recall.Hit) string {
	var parts []string
	for _, p := range h.Terms {
		parts = append(parts, visible(p.Term)+" "+format2(p.Score))
	}
	return format2(h.Score) + " = " + strings.Join(parts, " + ")
}

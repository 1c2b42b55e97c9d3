package cmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

type recallOptions struct {
	filter
	limit   int
	explain bool
	foreign bool
}

func recallCommand(env *Env) *cli.Command {
	o := recallOptions{limit: 10}
	return &cli.Command{
		Name:      "recall",
		Usage:     "find what is known about something",
		ArgsUsage: "QUERY",
		Flags: append(o.flags(false),
			&cli.IntFlag{Name: "n", Usage: "at most `N`; 0 is all", Value: o.limit, Destination: &o.limit},
			&cli.BoolFlag{Name: "all", Usage: "also what people not trusted here have changed", Destination: &o.foreign},
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
	return o.read(ctx, env, func(w *workspace, live []record.Memory, standings func(record.Memory) standing) error {
		var hidden []record.Memory
		if !o.foreign {
			live = slices.DeleteFunc(live, func(m record.Memory) bool {
				foreign := w.isForeign(m)
				if foreign {
					hidden = append(hidden, m)
				}
				return foreign
			})
			w.tellHidden(len(hidden))
		}
		hits := best(recall.Search(live, query, 0), o.limit, standings)
		if len(hits) == 0 {
			switch n := len(recall.Search(hidden, query, 0)); n {
			case 0:
				env.say("nothing is known about that")
			case 1:
				env.say("1 answer is withheld; 'reverie recall --all QUERY' shows it")
			default:
				env.say("%d answers are withheld; 'reverie recall --all QUERY' shows them", n)
			}
		}
		for _, h := range hits {
			if env.JSON {
				j := standingJSON(h.Memory, h.standing)
				j.Score, j.Snippet = h.Score, h.Memory.Text
				if err := env.object(j); err != nil {
					return err
				}
				continue
			}
			w.line(mark(h.Memory, h.standing), dim, h.Memory, remark(h.Memory, h.standing))
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

// hit is a memory that answers a query, with how it stands here.
type hit struct {
	recall.Hit
	standing standing
}

// doubted is what the score of a stale or withheld memory is multiplied by.
const doubted = 0.5

// best are the n first of what was found, or all where n is 0, when what is stale or does not hold here is ranked
// lower. Where n of the others were met, nothing behind them can be among the first.
func best(found []recall.Hit, n int, standings func(record.Memory) standing) []hit {
	var hits []hit
	for firm := 0; len(found) > 0 && (n <= 0 || firm < n); found = found[1:] {
		h := hit{found[0], standings(found[0].Memory)}
		if h.standing.Stale || h.standing.Withheld {
			h.Score *= doubted
		} else {
			firm++
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.Score, a.Score) })
	if n > 0 && len(hits) > n {
		hits = hits[:n]
	}
	return hits
}

// column is the indentation under a statement in a list.
const column = "                        "

// explainScore is a score as the sum of what each term added.
func explainScore(h hit) string {
	var parts []string
	for _, p := range h.Terms {
		parts = append(parts, visible(p.Term)+" "+format2(p.Score))
	}
	sum := strings.Join(parts, " + ")
	if s := h.standing; s.Stale || s.Withheld {
		sum = format2(doubted) + " × (" + sum + ")"
	}
	return format2(h.Score) + " = " + sum
}

package cmd

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
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
		near := w.askNear(ctx, query)
		hits, lists := w.fused(recall.Search(live, query, 0), live, near(), o, standings)
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
				j.Score, j.Snippet, j.Lists, j.Ranks = h.Score, h.Memory.Text, lists, h.ranks(lists)
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
				env.print("%s%s\n", column, env.paint(dim, explainScore(h, lists)))
			}
		}
		return nil
	})
}

// The lists that may answer a query.
const (
	listLexical = "lexical"
	listVectors = "vectors"
)

// maxNear is how long the list of the nearest is: there is always a nearest, and what comes late in it is alike by chance.
const maxNear = 50

// hit is a memory that answers a query, with how it stands here.
type hit struct {
	recall.Fused
	standing standing
}

// ranks are those of the hit in the lists that have it, where there is more than one list.
func (h hit) ranks(lists []string) map[string]int {
	if len(lists) < 2 {
		return nil
	}
	all := map[string]int{}
	for list, rank := range map[string]int{listLexical: h.Lexical, listVectors: h.Near} {
		if rank > 0 {
			all[list] = rank
		}
	}
	return all
}

// fused are the first of what was found, fused with what is near where that is known, and the lists that answered. What is
// stale or withheld goes back in each list before their ranks count.
func (w *workspace) fused(found []recall.Hit, live []record.Memory, near nearness, o recallOptions, standings func(record.Memory) standing) (hits []hit, lists []string) {
	defer near.vectors.Close()
	var alike []vector.Near
	known := map[string]bool{} // what has a vector
	if near.query != nil {
		byID := make(map[string]int, len(live))
		for i, m := range live {
			byID[m.ID] = i
		}
		alike = near.vectors.Nearest(near.query, 2*maxNear, func(id string) (m record.Memory, ok bool) {
			i, ok := byID[id]
			if ok {
				m = live[i]
			}
			return m, ok
		})
		if len(alike) == 0 {
			near = nearness{why: "none of these has one that is alike"}
		}
	}
	if near.query == nil {
		if o.explain {
			w.env.say("lists: %s; not %s: %s", listLexical, listVectors, near.why)
		}
		for i, h := range best(found, o.limit, standings) {
			h.Lexical, h.Own = i+1, h.Score
			hits = append(hits, h)
		}
		return hits, []string{listLexical}
	}
	if o.explain {
		w.env.say("lists: %s, %s (weight %s)", listLexical, listVectors, strconv.FormatFloat(near.weight, 'f', -1, 64))
	}
	depth := 0
	if o.limit > 0 {
		depth = max(o.limit, maxNear)
	}
	stands := map[string]standing{}
	list := func(found []recall.Hit, depth int) (out []recall.Hit) {
		for _, h := range best(found, depth, standings) {
			stands[h.Memory.ID] = h.standing
			out = append(out, h.Hit)
		}
		return out
	}
	var nearest []recall.Hit
	for _, n := range alike {
		nearest = append(nearest, recall.Hit{Memory: n.Memory, Score: n.Likeness})
	}
	words, alikes := list(found, depth), list(nearest, maxNear)
	for _, h := range words {
		known[h.Memory.ID] = near.vectors.Has(h.Memory)
	}
	for _, f := range recall.Fuse(words, alikes, known, near.weight) {
		if o.limit <= 0 || len(hits) < o.limit {
			hits = append(hits, hit{f, stands[f.Memory.ID]})
		}
	}
	return hits, []string{listLexical, listVectors}
}

// doubted is what the score of a stale or withheld memory is multiplied by.
const doubted = 0.5

// best are the n first of what was found, or all where n is 0, when what is stale or does not hold here is ranked
// lower. Where n of the others were met, nothing behind them can be among the first.
func best(found []recall.Hit, n int, standings func(record.Memory) standing) []hit {
	var hits []hit
	for firm := 0; len(found) > 0 && (n <= 0 || firm < n); found = found[1:] {
		h := hit{recall.Fused{Hit: found[0]}, standings(found[0].Memory)}
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

// explainScore says where a score comes from: what each list gave it, and there each term.
func explainScore(h hit, lists []string) string {
	if len(lists) < 2 {
		return format2(h.Score) + " = " + terms(h)
	}
	var parts []string
	for _, list := range lists {
		if rank, ok := h.ranks(lists)[list]; ok {
			parts = append(parts, list+" "+strconv.Itoa(rank))
		}
	}
	line := strconv.FormatFloat(h.Score, 'f', 4, 64) + " = " + strings.Join(parts, " + ")
	if h.Kept {
		line = listLexical + " " + strconv.Itoa(h.Lexical) + ", where it stays: it has no vector"
	}
	if h.Lexical > 0 {
		line += "; " + listLexical + " " + format2(h.Own) + " = " + terms(h)
	}
	if h.Near > 0 {
		line += "; likeness " + format2(h.Likeness)
	}
	return line
}

// terms is a lexical score as the sum of what each term added.
func terms(h hit) string {
	var parts []string
	for _, p := range h.Terms {
		parts = append(parts, visible(p.Term)+" "+format2(p.Score))
	}
	sum := strings.Join(parts, " + ")
	if s := h.standing; s.Stale || s.Withheld {
		sum = format2(doubted) + " × (" + sum + ")"
	}
	return sum
}

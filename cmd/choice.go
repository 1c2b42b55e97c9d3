package cmd

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/remember"
	"github.com/urfave/cli/v2"
)

// choice selects the memories for a command that changes many: those that pass every given filter.
type choice struct {
	query string // filters of recall
	older string
	kind  string
	tags  cli.StringSlice
}

func (o *choice) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "older-than", Usage: "only memories learned before `TIME`: 90d, 6m, 1y, 2026-01-31", Destination: &o.older},
		&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "only memories of this `KIND`", Destination: &o.kind},
		&cli.StringSliceFlag{Name: "tag", Aliases: []string{"t"}, Usage: "only memories with this `TAG`; may be repeated, to require each", Destination: &o.tags},
		&cli.StringFlag{Name: "query", Usage: "only memories that match these `FILTERS` of recall, such as \"by:claude -since:30d path:web\"; without words", Destination: &o.query},
	}
}

func (o *choice) given() bool {
	return o.query != "" || o.older != "" || o.kind != "" || len(o.tags.Value()) > 0
}

// filters are queries that all have to match.
func (o *choice) filters(at recall.Where) (all []recall.Query, err error) {
	if o.kind != "" {
		kind, err := remember.ParseKind(o.kind)
		if err != nil {
			return nil, err
		}
		all = append(all, recall.Query{Filter: recall.Filter{Kinds: []record.Kind{kind}}})
	}
	for _, tag := range o.tags.Value() {
		all = append(all, recall.Query{Filter: recall.Filter{Tags: []string{tag}}})
	}
	if o.older != "" {
		q, err := at.Parse("-since:" + o.older)
		if err != nil || q.Without.Since != o.older {
			return nil, exit.Usage("use 90d, 2w, 6m, 1y or 2026-01-31", "--older-than: %q is not a time", o.older)
		}
		all = append(all, q)
	}
	if o.query != "" {
		q, err := at.Parse(o.query)
		switch {
		case err != nil:
			return nil, exit.Usage("'reverie help recall' lists the filters", "--query: %v", err)
		case q.At != "":
			return nil, exit.Usage("leave it out", "--query takes no at:, because only current memories can be retired")
		case strings.TrimSpace(q.Text) != "" || len(q.Not) > 0:
			return nil, exit.Usage("'reverie recall' finds ids by words: reverie forget ID… --reason WHY", "--query takes only filters, not %q", strings.TrimSpace(q.Text+" "+strings.Join(q.Not, " ")))
		}
		all = append(all, q)
	}
	return all, nil
}

// passes reports whether a memory matches every filter. One whose age is not known is older than
// nothing.
func passes(w *workspace, m record.Memory, filters []recall.Query) bool {
	v := recall.Values{Kind: m.Kind, Paths: m.Paths, Tags: m.Tags, By: m.Source.By, Time: m.Source.Time}
	return !slices.ContainsFunc(filters, func(q recall.Query) bool {
		return q.Without.Since != "" && v.Time.IsZero() || !q.Match(v, w.env.Now())
	})
}

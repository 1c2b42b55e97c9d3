package reader

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Question is a user's query.
type Question struct {
	Text     string   // in the language of recall.Parse
	Kind     string   // only of this kind; empty: of any
	At       string   // a revision of the memory; empty: the one that Text names, or now
	Files    []string // that the asker works on, named relative to Dir
	Limit    int      // of the hits; 0: no limit
	Apart    bool     // include hits that repeat an earlier one
	Withheld bool     // include memories withheld for their authors
}

// Literal is a part of a query that looks like a filter but was searched as words.
type Literal struct {
	Text string
	Why  string
}

// Recall finds the memories that answer a question. The notes of parsing are in the answer even
// with an error.
func (r *Reader) Recall(ctx context.Context, q Question) (a Answer, err error) {
	p := parser{r: r, Question: q}
	defer func() { a.Literals, a.At = p.literals, p.At }()
	query, err := p.parse(ctx)
	if err != nil {
		return a, err
	}
	defer r.OpenIndex()()
	err = r.ViewAt(ctx, p.At, func(v *record.View) error {
		asked := v
		if !q.Withheld {
			if asked, err = r.ForAgents(ctx, v); err != nil {
				return err
			}
		}
		caveats, err := r.Caveats(ctx, asked)
		if err != nil {
			return err
		}
		near := sync.OnceValue(r.askNear(ctx, query))
		defer func() { near().vectors.Close() }()
		look := func(x *recall.Index, withheld func() *recall.Index) error {
			agent := ""
			if p.At == "" {
				agent, _, _ = strings.Cut(r.Agent(), "/")
			}
			return WithNotes(r, v, x, agent, func(x *recall.Index) error {
				if query, err = p.settle(x, query); err != nil {
					return err
				}
				a, err = lookup{r, x, withheld, query, p.Question, near, caveats}.answer(ctx)
				return err
			})
		}
		if q.Withheld {
			return r.searchAll(ctx, v, p.At != "", func(x *recall.Index) error {
				return withOwn(ctx, r, x, recall.Limits{}, func(x *recall.Index) error { return look(x, nil) })
			})
		}
		return r.SearchGiven(ctx, v, p.At != "", recall.Limits{}, look)
	})
	a.Query = query
	return a, err
}

// parser turns a question into a query.
type parser struct {
	r *Reader
	Question
	literals []Literal
	plain    []string // those of them that look like filters
}

// parse also sets At and Files. In a longer text it treats invalid filters as words.
func (p *parser) parse(ctx context.Context) (q recall.Query, err error) {
	if strings.TrimSpace(p.Text) == "" && p.Kind == "" {
		return q, exit.Usage(`say what to look for: reverie recall "flaky tests"; 'reverie list' lists everything`, "the query is empty")
	}
	if p.Files, err = placed(Where(p.r.Repo.WorkTree, p.r.Dir), p.Files); err != nil {
		return q, err
	}
	if q, err = p.query(); err != nil {
		return q, err
	}
	other := func(filter string) bool { return !strings.HasPrefix(filter, "at:") }
	if at := slices.DeleteFunc(slices.Clone(q.Perhaps), other); q.At != "" && len(at) > 0 {
		if _, err := p.r.PastState(ctx, q.At); err != nil {
			if q, err = p.asWords(at, "it is no revision"); err != nil {
				return q, err
			}
		}
	}
	for _, text := range q.Plain {
		p.literals = append(p.literals, Literal{text, "it is no filter"})
	}
	p.At = cmp.Or(p.At, q.At)
	return q, nil
}

// settle treats filters of a longer text as words if the index says that no memory could pass them.
func (p *parser) settle(x *recall.Index, q recall.Query) (recall.Query, error) {
	if unmet := x.Unmet(q, p.r.Now()); len(unmet) > 0 {
		return p.asWords(unmet, "no memory has it")
	}
	return q, nil
}

// asWords parses the query with some filters as words.
func (p *parser) asWords(filters []string, why string) (recall.Query, error) {
	for _, text := range filters {
		p.plain = append(p.plain, text)
		p.literals = append(p.literals, Literal{text, why})
	}
	return p.query()
}

// query parses the text and adds the options.
func (p *parser) query() (recall.Query, error) {
	q, err := Where(p.r.Repo.WorkTree, p.r.Dir).Parse(p.Text, p.plain...)
	switch {
	case errors.Is(err, recall.ErrOnlyNot):
		return q, exit.Usage(`reverie recall "tests -slow"`, "%v", err)
	case err != nil:
		return q, exit.Usage("to look for it as it is written, put it in quotation marks", "%v", err)
	case p.At != "" && q.At != "" && p.At != q.At:
		return q, exit.Usage("give one of them", "--at %s and at:%s in the query differ", p.At, q.At)
	case p.Kind == "":
		return q, nil
	}
	kind := record.Kind(strings.ToLower(p.Kind))
	switch {
	case !kind.Valid():
		return q, exit.Usage("kinds are "+record.KindList(), "-k %s: there is no such kind", p.Kind)
	case slices.ContainsFunc(q.Kinds, func(k record.Kind) bool { return k != kind }):
		return q, exit.Usage("give one of them; several kinds are asked for in the query: kind:failure kind:fact", "-k %s and kind:%s in the query differ", kind, q.Kinds[0])
	}
	q.Kinds = []record.Kind{kind}
	return q, nil
}

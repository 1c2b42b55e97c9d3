package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// typed is how what a user typed becomes a query.
type typed struct {
	w     *workspace
	text  string
	o     *recallOptions
	plain []string // filters that are words, as they are written
}

// parse takes the text apart together with the options, whose at is set. What looks like a filter and is none in a longer
// text is told.
func (a *typed) parse(ctx context.Context) (q recall.Query, err error) {
	if strings.TrimSpace(a.text) == "" && a.o.kind == "" {
		return q, exit.Usage(`say what to look for: reverie recall "flaky tests"; 'reverie list' lists everything`, "the query is empty")
	}
	if a.o.files, err = a.w.placed(a.o.files); err != nil {
		return q, err
	}
	if q, err = a.query(); err != nil {
		return q, err
	}
	if q.At != "" && slices.ContainsFunc(q.Perhaps, isAt) {
		if _, err := a.w.pastState(ctx, q.At); err != nil {
			a.asWords(q.Perhaps, isAt, "it is no revision")
			if q, err = a.query(); err != nil {
				return q, err
			}
		}
	}
	for _, raw := range q.Plain {
		a.tell(raw, "it is no filter")
	}
	if a.o.at == "" {
		a.o.at = q.At
	}
	return q, nil
}

func isAt(raw string) bool { return strings.HasPrefix(raw, "at:") }

// settle is the query once the index can say which filters no memory could ever pass: in a longer text they are words,
// which is told.
func (a *typed) settle(x *recall.Index, q recall.Query) (recall.Query, error) {
	unmet := x.Unmet(q, a.w.env.Now())
	if len(unmet) == 0 {
		return q, nil
	}
	a.asWords(unmet, func(string) bool { return true }, "no memory has it")
	return a.query()
}

// asWords has some filters taken as words.
func (a *typed) asWords(filters []string, which func(string) bool, why string) {
	for _, raw := range filters {
		if which(raw) {
			a.plain = append(a.plain, raw)
			a.tell(raw, why)
		}
	}
}

func (a *typed) tell(raw, why string) {
	a.w.env.Say("%s is looked for as words: %s", term.Visible(raw), why)
}

// tellCommon says why nothing was found by words that no index has.
func (a *typed) tellCommon(q recall.Query, found int) {
	if found == 0 && q.Common() {
		a.w.env.Say("%s: words that nearly every text has are not looked for; add one that says more", term.Visible(strings.TrimSpace(q.Text)))
	}
}

// query is the text, taken apart, with what the options ask for.
func (a *typed) query() (recall.Query, error) {
	q, err := a.w.where(a.w.env.Dir).Parse(a.text, a.plain...)
	switch {
	case errors.Is(err, recall.ErrOnlyNot):
		return q, exit.Usage(`reverie recall "tests -slow"`, "%v", err)
	case err != nil:
		return q, exit.Usage("to look for it as it is written, put it in quotation marks", "%v", err)
	case a.o.at != "" && q.At != "" && a.o.at != q.At:
		return q, exit.Usage("give one of them", "--at %s and at:%s in the query differ", a.o.at, q.At)
	}
	return q, a.kind(&q)
}

// kind adds the kind that the options ask for.
func (a *typed) kind(q *recall.Query) error {
	if a.o.kind == "" {
		return nil
	}
	kind := record.Kind(strings.ToLower(a.o.kind))
	switch {
	case !kind.Valid():
		return exit.Usage("kinds are "+record.KindList(), "-k %s: there is no such kind", a.o.kind)
	case slices.ContainsFunc(q.Kinds, func(k record.Kind) bool { return k != kind }):
		return exit.Usage("give one of them; several kinds are asked for in the query: kind:failure kind:fact", "-k %s and kind:%s in the query differ", kind, q.Kinds[0])
	}
	q.Kinds = []record.Kind{kind}
	return nil
}

// where is a folder as a place to ask from. A work tree that was reached through a link has two names.
func (w *workspace) where(dir string) recall.Where {
	if w.Repo.WorkTree == "" {
		return recall.Where{}
	}
	at := recall.Where{Tops: []string{w.Repo.WorkTree}, Dir: below(w.Repo.WorkTree, dir)}
	if abs, err := filepath.Abs(dir); err == nil {
		top, inside := strings.CutSuffix(filepath.ToSlash(abs), "/"+at.Dir)
		if at.Dir == "" || inside {
			at.Tops = append(at.Tops, top)
		}
	}
	return at
}

// placed are files that the command line names from the folder of -C, below the top.
func (w *workspace) placed(files []string) (out []string, err error) {
	at := w.where(w.env.Dir)
	for _, f := range files {
		place, ok := at.Path(f)
		if !ok {
			return nil, exit.Usage("paths are named from the folder that you are in", "--file %s: it lies outside of the repository", f)
		}
		out = append(out, place)
	}
	return out, nil
}

package reader

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Lost returns an error for the branch or the journal if it lacks the last commits made here.
func Lost(ctx context.Context, r *Reader) (all []error) {
	for _, s := range []*gitstore.Store{r.Memory, r.Journal()} {
		if lost, err := s.Lost(ctx); err == nil && lost != "" {
			all = append(all, fmt.Errorf("%s does not reach %s, the last commit made here: what that added is not listed; see: reverie check", s.Ref(), lost))
		}
	}
	return all
}

// Remarks returns the lines to read before the hits of an answer, and the line to read after them
// or "". They reveal nothing to an agent of a text withheld from it.
func (a Answer) Remarks(r *Reader) (before []string, after string) {
	say := func(format string, args ...any) { before = append(before, fmt.Sprintf(format, args...)) }
	if len(a.Hits) == 0 && a.Query.Common() {
		say("%s: words that nearly every text has are not looked for; add one that says more", unseen.Visible(strings.TrimSpace(a.Query.Text)))
	}
	if len(a.Query.Not) > 0 {
		say("left out: what says %s", strings.Join(quoted(a.Query.Not), ", "))
	}
	if a.Loose {
		say("nothing says %s word for word; these have words of it", strings.Join(quoted(a.Query.Phrases), ", "))
	}
	switch {
	case r.Shields() && a.Hidden > 0:
		before = append(before, Shielded(a.Hidden))
	case a.Hidden == 1:
		say("1 answer is withheld; 'reverie recall --all QUERY' shows it")
	case a.Hidden == MaxNear:
		say("at least %d answers are withheld; 'reverie recall --all QUERY' shows them", a.Hidden)
	case a.Hidden > 1 && len(a.Hits) == 0:
		say("all %d answers are withheld; 'reverie recall --all QUERY' shows them", a.Hidden)
	case a.Hidden > 1:
		say("%d answers are withheld; 'reverie recall --all QUERY' shows them", a.Hidden)
	case len(a.Hits) == 0:
		before = append(before, a.whyNothing())
	}
	if a.Far && len(a.Hits) > 0 {
		with := ""
		if said := Restricted(a.Query); said != nil {
			with = " with " + unseen.Visible(strings.Join(said, " "))
		}
		say("no memory%s has these words; the nearest:", with)
	}
	all := "'reverie recall -n 0 QUERY' shows all"
	if r.Caller != "" { // a tool has no options
		all = "a narrower query finds them"
	}
	switch {
	case a.Far: // the nearest have no end
	case a.Many:
		after = "there are more; " + all
	case a.More > 0:
		after = fmt.Sprintf("%d more; %s", a.More, all)
	}
	return before, after
}

// Unsaid returns the lines about parts of a question that were not searched as written.
func (a Answer) Unsaid() (lines []string) {
	for _, l := range a.Literals {
		lines = append(lines, fmt.Sprintf("%s is looked for as words: %s", unseen.Visible(l.Text), l.Why))
	}
	return lines
}

// whyNothing explains why a question has no answer: the memory is empty, or a part of the query
// excludes matches.
func (a Answer) whyNothing() string {
	switch n := a.Nothing; {
	case n.Empty && a.At != "":
		return "nothing was known then"
	case n.Empty:
		return "nothing is known here yet; next: reverie learn, or reverie remember TEXT"
	case n.Found > 0:
		found := plural.Count(n.Found, "memory matches", "memories match")
		if n.Found == MaxNear {
			found = "at least " + found
		}
		them := "it"
		if len(n.Without) > 1 {
			them = "them"
		}
		return "nothing matches with " + unseen.Visible(strings.Join(n.Without, " ")) + "; " + found + " without " + them
	}
	return "nothing is known about that"
}

// Shielded returns the number of memories withheld from an agent, in words.
func Shielded(n int) string {
	return fmt.Sprintf("%d withheld: a person decides with 'reverie trust'", n)
}

func quoted(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, `"`+unseen.Visible(t)+`"`)
	}
	return out
}

// Nothing explains why a query found nothing. The zero value means that no memory matches.
type Nothing struct {
	Empty   bool     // there is no memory at all
	Without []string // parts of the query without which it finds memories
	Found   int      // how many it then finds; MaxNear means at least that many
}

// restriction is a part of a query that excludes memories.
type restriction struct {
	said []string // as it is written
	drop func(recall.Query) recall.Query
}

// restrictions returns the restrictions of a query: each key of its filters, and its exclusions.
func restrictions(q recall.Query) (all []restriction) {
	add := func(drop func(recall.Query) recall.Query, said ...[]string) {
		if said := slices.Concat(said...); len(said) > 0 {
			all = append(all, restriction{said, drop})
		}
	}
	written := func(key string, values []string) (out []string) {
		for _, v := range values {
			if v == "" {
				continue
			}
			if strings.ContainsAny(v, " \t") {
				v = strconv.Quote(v)
			}
			out = append(out, key+v)
		}
		return out
	}
	kinds := func(kinds []record.Kind) (out []string) {
		for _, k := range kinds {
			out = append(out, string(k))
		}
		return out
	}
	f, no := q.Filter, q.Without
	add(func(q recall.Query) recall.Query { q.Not = nil; return q }, written("-", q.Not))
	add(func(q recall.Query) recall.Query { q.Filter.Kinds, q.Without.Kinds = nil, nil; return q }, written("kind:", kinds(f.Kinds)), written("-kind:", kinds(no.Kinds)))
	add(func(q recall.Query) recall.Query { q.Filter.Paths, q.Without.Paths = nil, nil; return q }, written("path:", f.Paths), written("-path:", no.Paths))
	add(func(q recall.Query) recall.Query { q.Filter.Tags, q.Without.Tags = nil, nil; return q }, written("tag:", f.Tags), written("-tag:", no.Tags))
	add(func(q recall.Query) recall.Query { q.Filter.By, q.Without.By = nil, nil; return q }, written("by:", f.By), written("-by:", no.By))
	add(func(q recall.Query) recall.Query { q.Filter.Since, q.Without.Since = "", ""; return q }, written("since:", []string{f.Since}), written("-since:", []string{no.Since}))
	return all
}

// Restricted returns the restricting parts of a query, as written.
func Restricted(q recall.Query) (said []string) {
	for _, p := range restrictions(q) {
		said = append(said, p.said...)
	}
	return said
}

// whyNothing tries the query without each restriction, then without all of them.
func (l lookup) whyNothing() Nothing {
	if l.x.Totals().Docs == 0 && l.withheld == nil {
		return Nothing{Empty: true}
	}
	parts := restrictions(l.q)
	if len(parts) > 1 {
		whole := restriction{drop: func(q recall.Query) recall.Query { return q }}
		for _, p := range parts {
			before := whole.drop
			whole = restriction{append(whole.said, p.said...), func(q recall.Query) recall.Query { return p.drop(before(q)) }}
		}
		parts = append(parts, whole)
	}
	for _, p := range parts {
		if n := l.wouldFind(p.drop(l.q)); n > 0 {
			return Nothing{Without: p.said, Found: n}
		}
	}
	return Nothing{}
}

// wouldFind counts the memories that a query finds, at most MaxNear. If it has words, it counts
// those that have some of them.
func (l lookup) wouldFind(q recall.Query) int {
	l.q = q
	now := l.r.Now()
	return l.answers(&recall.Request{Text: q.Text, Not: q.Not, Now: now, Keep: l.x.Keep(q, now), N: MaxNear})
}

package reader

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

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

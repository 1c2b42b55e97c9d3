package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
)

// perPage is the number of memories on a page of a list.
const perPage = 50

// The states that a search can ask for, besides all that is in force.
const (
	withheld = "withheld"
	stale    = "stale"
	private  = "private"
	retired  = "retired"
	every    = "all"
)

// search is a form with its results.
type search struct {
	Words, Kind, Tag, By, State string

	Kinds         []record.Kind
	States        []string
	Before, After []string // remarks on the results
	Rows          []row
	list          // Total is 0 where the results were not counted
}

// row is a memory in a list.
type row struct {
	record.Memory
	Marks   []string // state and caveats
	Snippet string   // of the body
}

// showSearch answers a query, or lists the newest memories.
func showSearch(ctx context.Context, d *Desk, r *http.Request) (page, error) {
	q := r.URL.Query()
	s := &search{Words: q.Get("q"), Kind: q.Get("kind"), Tag: q.Get("tag"), By: q.Get("by"), State: q.Get("state"),
		Kinds: record.Kinds, States: []string{string(record.Contested), withheld, stale, private, retired, every}}
	n, _ := strconv.Atoi(q.Get("page"))
	n = min(max(1, n), 1000)
	more, err := s.find(ctx, d.Reader, n)
	at := func(n int) string {
		q.Set("page", strconv.Itoa(n))
		return "?" + q.Encode()
	}
	if n > 1 {
		s.Newer = at(n - 1)
	}
	if more {
		s.Older = at(n + 1)
	}
	return page{View: "search", Title: cmp.Or(s.Words, "Memories"), Data: s}, err
}

// query is the form in the language of recall.
func (s *search) query() string {
	text := s.Words
	for _, f := range [][2]string{{"tag", s.Tag}, {"by", s.By}} {
		if f[1] = strings.Trim(strings.ReplaceAll(f[1], `"`, ""), " "); f[1] != "" {
			text += " " + f[0] + `:"` + f[1] + `"`
		}
	}
	return strings.TrimSpace(text)
}

// find fills page n of the results. It ranks by the engine of recall where there are words and the
// memories are in force.
func (s *search) find(ctx context.Context, r *reader.Reader, n int) (more bool, err error) {
	text := s.query()
	q, err := reader.Where(r.Repo.WorkTree, r.Dir).Parse(text)
	if text != "" && err != nil {
		return false, err
	}
	if reader.Wordless(q) && len(q.Not) == 0 || s.State == retired || s.State == every {
		return s.browse(ctx, r, q, n)
	}
	question := reader.Question{Text: text, Kind: s.Kind, Limit: n * perPage, Withheld: true}
	if s.State != "" { // it is judged afterwards
		question.Limit = 0
	}
	a, err := r.Recall(ctx, question)
	s.Before = a.Unsaid()
	if err != nil {
		return false, err
	}
	before, after := a.Remarks(r)
	s.Before = append(s.Before, before...)
	if after != "" {
		s.After = []string{after}
	}
	var snippets recall.Snippets
	var hits []reader.Hit
	for _, h := range a.Hits {
		if s.wants(h.Memory, func(record.Memory) reader.Caveats { return h.Caveats }, r.Now()) {
			hits = append(hits, h)
		}
	}
	for _, h := range paged(hits, n) {
		s.Rows = append(s.Rows, row{h.Memory, marks(h.Memory, h.Caveats, r.Now()), snippets.Of(h.Hit, a.Query.Text, reader.SnippetWidth)})
	}
	return len(hits) > n*perPage || a.More > 0 || a.Many, nil
}

// browse fills page n with the memories that pass the filters, the newest first. A memory must have
// all of the words.
func (s *search) browse(ctx context.Context, r *reader.Reader, q recall.Query, n int) (more bool, err error) {
	words := strings.Fields(strings.ToLower(q.Text))
	err = r.ViewAt(ctx, q.At, func(v *record.View) error {
		caveats, err := r.Caveats(ctx, v)
		if err != nil {
			return err
		}
		var found []record.Memory
		for _, m := range v.Memories() {
			text := strings.ToLower(m.Text + "\n" + m.Body)
			if (s.Kind == "" || string(m.Kind) == s.Kind) && q.Match(recall.ValuesOf(m), r.Now()) &&
				!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) &&
				!slices.ContainsFunc(q.Not, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) }) &&
				s.wants(m, caveats, r.Now()) {
				found = append(found, m)
			}
		}
		slices.SortStableFunc(found, func(a, b record.Memory) int { return b.Source.Time.Compare(a.Source.Time) })
		s.Total, more = len(found), len(found) > n*perPage
		for _, m := range paged(found, n) {
			s.Rows = append(s.Rows, row{Memory: m, Marks: marks(m, caveats(m), r.Now())})
		}
		return nil
	})
	return more, err
}

// wants reports whether a memory is in the asked state. It asks for the caveats, which cost more,
// only where they decide.
func (s *search) wants(m record.Memory, caveats func(record.Memory) reader.Caveats, now time.Time) bool {
	switch live := m.Live(now); s.State {
	case every:
		return true
	case retired:
		return !live
	case withheld:
		return live && caveats(m).Withheld
	case stale:
		return live && caveats(m).Stale
	case private:
		return live && m.Private
	case string(record.Contested):
		return live && m.Status == record.Contested
	default:
		return live
	}
}

// paged returns page n of a list.
func paged[T any](all []T, n int) []T {
	return all[min(len(all), (n-1)*perPage):min(len(all), n*perPage)]
}

// marks words the state of a memory and its caveats.
func marks(m record.Memory, c reader.Caveats, now time.Time) (all []string) {
	switch {
	case m.Status == record.Retired:
		all = append(all, retired)
	case !m.Live(now):
		all = append(all, "expired")
	}
	if m.Private {
		all = append(all, private)
	}
	return append(all, c.Why...)
}

// Only returns the address of all memories of a kind, with a tag or by an author.
func (p page) Only(key, value string) string {
	if p.Static && key == "kind" {
		return p.Link("kind", value)
	}
	return p.Home() + "?" + url.Values{key: {value}}.Encode()
}

package reader

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
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
		found := plural.Count(n.Found, "memory is", "memories are")
		if n.Found == MaxNear {
			found = "at least " + found
		}
		return "nothing is found with " + unseen.Visible(strings.Join(n.Without, " ")) + "; without that " + found
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
